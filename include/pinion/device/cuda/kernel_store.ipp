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

PINION_DECL CUkern_st* kernel_store::find(const kernel_text& text, thread_pool* threads) {
  std::unique_lock hold(mutex_);
  auto& one = *entries_.try_emplace(text.name, entry{.text = text.text}).first;
  if (one.second.is == state::announced) {
    const batch wanted = take_announced();
    hold.unlock();
    make(wanted, threads);
    hold.lock();
  }
  settled_.wait(hold, [&] { return one.second.is == state::made || one.second.is == state::refused; });
  if (one.second.refusal) pinion::detail::throw_shared(one.second.refusal);
  return one.second.kernel;
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

PINION_DECL void kernel_store::make(const batch& wanted, thread_pool* threads) {
  batch left;
  for (auto* one : wanted)
    if (!load_from_disk(*one)) left.push_back(one);
  const std::size_t units =
      std::min<std::size_t>(left.size(), threads ? static_cast<std::size_t>(threads->threads()) + 1 : 1);
  int gpu = 0;
  cudaGetDevice(&gpu);
  const auto compile_unit = [&](std::int64_t i) {
    const card::visit here(gpu);  // whichever thread it is
    const auto at = [&](std::size_t u) { return left.begin() + static_cast<std::ptrdiff_t>(left.size() * u / units); };
    const auto u = static_cast<std::size_t>(i);
    compile({at(u), at(u + 1)});
  };
  if (units > 1)
    threads->for_each_chunk(static_cast<std::int64_t>(units), compile_unit);
  else if (units == 1)
    compile_unit(0);
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
    std::string text(scalar::cuda_prelude());
    for (const auto* one : unit) text += one->second.text;
    const compiler& by = compiler::of_this_program();
    const std::string code = by.compile(text, major_, minor_);
    load(code, unit, false);
    std::vector<std::string> keys;
    for (const auto* one : unit) keys.push_back(key_of(one->second.text));
    cache_.keep(keys, by.version(), code);
  } catch (...) {
    const error why = current_error();
    if (unit.size() == 1) return settle(*unit[0], nullptr, std::make_shared<const error>(why));
    for (auto* one : unit)  // one of them is refused: the others are not
      if (one->second.is == state::in_work) compile({one});
  }
}

PINION_DECL void kernel_store::load(const std::string& code, const batch& unit, bool from_disk) {
  const auto expect = [](cudaError_t how, const char* call) {
    if (how)
      throw error(errc::internal,
                  std::string(call) + " returned " + cudaGetErrorName(how) + ", " + cudaGetErrorString(how));
  };
  cudaLibrary_t library = nullptr;
  expect(cudaLibraryLoadData(&library, code.data(), nullptr, nullptr, 0, nullptr, nullptr, 0), "cudaLibraryLoadData");
  for (auto* one : unit) {
    cudaKernel_t kernel = nullptr;
    expect(cudaLibraryGetKernel(&kernel, library, one->first.c_str()), "cudaLibraryGetKernel");
    settle(*one, kernel, nullptr);
  }
  std::lock_guard hold(mutex_);
  (from_disk ? counts_.from_disk : counts_.compiled) += static_cast<int>(unit.size());
}

PINION_DECL void kernel_store::settle(entries::value_type& one, CUkern_st* kernel, shared_error refusal) {
  {
    std::lock_guard hold(mutex_);
    one.second.kernel = kernel;
    one.second.is = refusal ? state::refused : state::made;
    one.second.refusal = std::move(refusal);
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
