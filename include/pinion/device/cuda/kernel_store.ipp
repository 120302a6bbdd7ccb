// Bodies of <pinion/device/cuda/kernel_store.hpp>.
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <utility>

#include <pinion/base/process.hpp>
#include <pinion/base/thread_pool.hpp>
#include <pinion/device/cuda/card.hpp>
#include <pinion/device/cuda/compiler.hpp>
#include <pinion/device/cuda/kernel_store.hpp>
#include <pinion/scalar/cuda_text.hpp>

namespace pinion { inline namespace v0 { namespace cuda {

namespace detail {

// The stores of this process, by compute capability.
struct kernel_stores {
  std::mutex mutex;
  std::map<std::pair<int, int>, std::unique_ptr<kernel_store>> all;
};

}  // namespace detail

PINION_DECL kernel_store& kernel_store::of(int major, int minor) {
  auto& stores = of_this_process<detail::kernel_stores>();
  std::lock_guard hold(stores.mutex);
  auto& one = stores.all[{major, minor}];
  if (!one) one = std::make_unique<kernel_store>(major, minor, code_cache());
  return *one;
}

PINION_DECL void kernel_store::announce(kernel_text text) {
  std::lock_guard hold(mutex_);
  entries_.try_emplace(std::move(text.name), entry{.text = std::move(text.text)});
}

PINION_DECL void kernel_store::make_announced(thread_pool* threads) {
  std::unique_lock hold(mutex_);
  const batch wanted = take_announced();
  hold.unlock();
  make(wanted, threads);
}

PINION_DECL CUkern_st* kernel_store::find(const kernel_text& text, thread_pool* threads, const tell_refusal& tell) {
  std::unique_lock hold(mutex_);
  auto& one = *entries_.try_emplace(text.name, entry{.text = text.text}).first;
  if (one.second.is == state::failed) one.second.is = state::announced;
  if (one.second.is == state::announced) {
    const batch wanted = take_announced();
    hold.unlock();
    make(wanted, threads);
    hold.lock();
  }
  settled_.wait(hold, [&] { return one.second.is_settled(); });
  const shared_error why = one.second.why_none;
  if (one.second.is == state::failed) pinion::detail::throw_shared(why);
  if (!why || std::exchange(one.second.is_told, true)) return one.second.kernel;
  hold.unlock();
  const compiler& made_by = compiler::of_this_program();
  if (tell && (made_by.is_there() || made_by.has_news())) tell(*why);
  return nullptr;
}

PINION_DECL kernel_store::counts kernel_store::made() const {
  std::lock_guard hold(mutex_);
  return counts_;
}

PINION_DECL kernel_store::batch kernel_store::take_announced() {
  batch all;
  for (auto& one : entries_) {
    if (one.second.is != state::announced) continue;
    one.second.is = state::in_work;
    all.push_back(&one);
  }
  return all;
}

PINION_DECL void kernel_store::keep_announced(thread_pool* threads) {
  batch all;
  {
    std::lock_guard hold(mutex_);
    for (auto& one : entries_)
      if (one.second.is == state::announced) all.push_back(&one);
  }
  in_units(std::move(all), threads, [this](const batch& unit) { keep(unit, code_of(unit)); });
}

PINION_DECL void kernel_store::make(const batch& wanted, thread_pool* threads) {
  batch left;
  for (auto* one : wanted)
    if (!load_from_disk(*one)) left.push_back(one);
  int gpu = 0;
  cudaGetDevice(&gpu);
  in_units(std::move(left), threads, [this, gpu](const batch& unit) {
    const card::visit here(gpu);  // whichever thread it is
    compile(unit);
  });
}

PINION_DECL void kernel_store::in_units(batch all, thread_pool* threads,
                                        const std::function<void(const batch& unit)>& call) {
  const std::size_t units =
      std::min<std::size_t>(all.size(), threads ? static_cast<std::size_t>(threads->threads()) + 1 : 1);
  const std::vector<batch> parts = in_even_parts(std::move(all), units);
  if (units > 1)
    threads->for_each_chunk(static_cast<std::int64_t>(units),
                            [&](std::int64_t i) { call(parts[static_cast<std::size_t>(i)]); });
  else if (units == 1)
    call(parts[0]);
}

PINION_DECL std::vector<kernel_store::batch> kernel_store::in_even_parts(batch all, std::size_t parts) {
  const auto size = [](const entries::value_type* one) { return one->second.text.size(); };
  std::stable_sort(all.begin(), all.end(), [&](auto* a, auto* b) { return size(a) > size(b); });
  std::vector<batch> made(parts);
  std::vector<std::size_t> sizes(parts);
  for (auto* one : all) {
    const auto least = std::min_element(sizes.begin(), sizes.end());
    *least += size(one);
    made[static_cast<std::size_t>(least - sizes.begin())].push_back(one);
  }
  return made;
}

PINION_DECL bool kernel_store::load_from_disk(entries::value_type& one) {
  try {
    const auto code = cache_.find(key_of(one.second.text), compiler::of_this_program().version());
    if (code) load(*code, {&one}, true);
    return code.has_value();
  } catch (...) {
    return false;
  }
}

PINION_DECL void kernel_store::compile(const batch& unit) {
  try {
    const std::string code = code_of(unit);
    load(code, unit, false);
    keep(unit, code);
  } catch (...) {
    const error why = current_error();
    // A text that is refused refuses its unit; what else goes wrong has nothing to do with texts.
    if (why.code() == errc::invalid_argument && unit.size() > 1) {
      for (auto* one : unit) compile({one});
      return;
    }
    const state is = why.code() == errc::internal ? state::failed : state::refused;
    for (auto* one : unit)
      if (one->second.is == state::in_work) settle(*one, is, nullptr, std::make_shared<const error>(why));
  }
}

PINION_DECL std::string kernel_store::code_of(const batch& unit) const {
  std::string text(scalar::cuda_prelude());
  for (const auto* one : unit) text += one->second.text;
  return compiler::of_this_program().compile(text, major_, minor_);
}

PINION_DECL void kernel_store::keep(const batch& unit, const std::string& code) const {
  std::vector<std::string> keys;
  for (const auto* one : unit) keys.push_back(key_of(one->second.text));
  cache_.keep(keys, compiler::of_this_program().version(), code);
}

namespace detail {

// Tells whether an error of CUDA is that of code which the driver refuses, now and later.
inline bool is_refusal_of_code(cudaError_t how) {
  switch (how) {
    case cudaErrorInvalidKernelImage:
    case cudaErrorInvalidPtx:
    case cudaErrorInvalidSource:
    case cudaErrorUnsupportedPtxVersion:
    case cudaErrorNoKernelImageForDevice:
    case cudaErrorJitCompilerNotFound:
    case cudaErrorJitCompilationDisabled:
    case cudaErrorSymbolNotFound: return true;
    default: return false;
  }
}

}  // namespace detail

PINION_DECL void kernel_store::load(const std::string& code, const batch& unit, bool from_disk) {
  const auto expect = [](cudaError_t how, const char* call) {
    if (!how) return;
    cudaGetLastError();  // it is told of here
    throw error(detail::is_refusal_of_code(how) ? errc::unimplemented : errc::internal,
                std::string("the driver does not load a kernel: ") + call + " returned " + cudaGetErrorName(how) +
                    ", " + cudaGetErrorString(how));
  };
  cudaLibrary_t library = nullptr;
  expect(cudaLibraryLoadData(&library, code.data(), nullptr, nullptr, 0, nullptr, nullptr, 0), "cudaLibraryLoadData");
  std::vector<cudaKernel_t> kernels(unit.size());
  for (std::size_t i = 0; i < unit.size(); ++i)
    expect(cudaLibraryGetKernel(&kernels[i], library, unit[i]->first.c_str()), "cudaLibraryGetKernel");
  for (std::size_t i = 0; i < unit.size(); ++i) settle(*unit[i], state::made, kernels[i], nullptr);
  std::lock_guard hold(mutex_);
  (from_disk ? counts_.from_disk : counts_.compiled) += static_cast<int>(unit.size());
  counts_.units += !from_disk;
}

PINION_DECL void kernel_store::settle(entries::value_type& one, state is, CUkern_st* kernel, shared_error why_none) {
  {
    std::lock_guard hold(mutex_);
    one.second.kernel = kernel;
    one.second.is = is;
    one.second.why_none = std::move(why_none);
  }
  settled_.notify_all();
}

PINION_DECL std::string kernel_store::key_of(const std::string& text) const {
  return digest(std::to_string(major_) + "." + std::to_string(minor_) + "\n" + std::string(scalar::cuda_prelude()) +
                text);
}

PINION_DECL void launch(devices::cuda_stream stream, CUkern_st* kernel, std::span<const std::byte> argument,
                        unsigned blocks, unsigned threads) {
  cudaLaunchConfig_t how{};
  how.gridDim = {blocks, 1, 1};
  how.blockDim = {threads, 1, 1};
  how.stream = stream;
  void* arguments[] = {const_cast<std::byte*>(argument.data())};
  if (const cudaError_t failed = cudaLaunchKernelExC(&how, kernel, arguments))
    throw error(errc::internal, std::string("a kernel was not launched: ") + cudaGetErrorString(failed));
}

}}}  // namespace pinion::v0::cuda
