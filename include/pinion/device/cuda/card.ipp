// Bodies of <pinion/device/cuda/card.hpp>.
#pragma once

#include <cuda_runtime_api.h>

#include <atomic>
#include <utility>

#include <pinion/base/process.hpp>
#include <pinion/device/cuda/card.hpp>

namespace pinion { inline namespace v0 { namespace cuda {

namespace detail {

// "13.0" of 13000.
inline std::string version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

inline machine_cards no_cards(cudaError_t code) {
  int driver = 0, runtime = 0;
  cudaDriverGetVersion(&driver);
  cudaRuntimeGetVersion(&runtime);
  cudaGetLastError();
  if (driver == 0) return {{}, "this machine has no driver of NVIDIA GPUs", false};
  if (code == cudaErrorNoDevice || code == cudaSuccess) return {{}, "the driver shows no GPU to this program", false};
  if (code == cudaErrorInsufficientDriver)
    return {{},
            "the driver of this machine's GPUs knows CUDA " + version_text(driver) + ", and this program needs CUDA " +
                version_text(runtime) + "; a newer driver makes them usable",
            true};
  return {{}, std::string("CUDA lists no GPUs: ") + cudaGetErrorName(code) + ", " + cudaGetErrorString(code), true};
}

// The process in which CUDA found GPUs; null: there is none yet. It is never destroyed.
struct first_process {
  std::atomic<const process_mark*> mark{nullptr};
};

inline constexpr const char* behind_fork =
    "CUDA was used before fork(), and it does not go on in the child: a session lists the GPUs when it is made; fork "
    "before the first session, or start a program of its own";

// True for codes after which CUDA refuses all further work on the GPU.
inline bool loses_card(int code) {
  constexpr int contained = 226, tensor_memory_leak = 721;  // younger than the oldest headers
  switch (code) {
    case contained:
    case tensor_memory_leak:
    case cudaErrorIllegalAddress:
    case cudaErrorIllegalInstruction:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorHardwareStackError:
    case cudaErrorLaunchFailure:
    case cudaErrorLaunchTimeout:
    case cudaErrorAssert:
    case cudaErrorECCUncorrectable:
    case cudaErrorNvlinkUncorrectable:
    case cudaErrorDevicesUnavailable:
    case cudaErrorContextIsDestroyed:
    case cudaErrorMpsClientTerminated:
    case cudaErrorExternalDevice:
    case cudaErrorUnknown: return true;
    default: return false;
  }
}

// The GPU that this thread has entered; -1: none.
inline int& entered_card() {
  thread_local int mine = -1;
  return mine;
}

}  // namespace detail

PINION_DECL bool is_behind_fork() {
  const process_mark* const first = of_this_process<detail::first_process>().mark.load(std::memory_order_acquire);
  return first && !first->is_this();
}

PINION_DECL machine_cards list_cards() {
  if (is_behind_fork()) return {{}, detail::behind_fork, true};
  int count = 0;
  if (const cudaError_t failed = cudaGetDeviceCount(&count); failed || count == 0) return detail::no_cards(failed);
  if (auto& first = of_this_process<detail::first_process>().mark; !first.load()) {
    const process_mark* nobody = nullptr;
    auto mine = std::make_unique<const process_mark>();
    if (first.compare_exchange_strong(nobody, mine.get())) mine.release();
  }
  machine_cards found;
  for (int i = 0; i < count; ++i) {
    cudaDeviceProp about{};
    if (cudaGetDeviceProperties(&about, i)) continue;
    char bus[32] = "";
    cudaDeviceGetPCIBusId(bus, sizeof bus, i);
    found.cards.push_back({.number = i,
                           .name = about.name,
                           .bus = bus,
                           .major = about.major,
                           .minor = about.minor,
                           .memory = static_cast<std::int64_t>(about.totalGlobalMem)});
  }
  cudaGetLastError();
  return found;
}

// The events that wait for their next use. Holders of events share it.
struct card::idle_events {
  std::mutex mutex;
  std::vector<CUevent_st*> all;
  const int of_card;

  explicit idle_events(int number) : of_card(number) {}
  ~idle_events() {
    const visit here(of_card);
    for (CUevent_st* e : all) cudaEventDestroy(e);
  }
  CUevent_st* take() {
    std::lock_guard hold(mutex);
    if (all.empty()) return nullptr;
    CUevent_st* const last = all.back();
    all.pop_back();
    return last;
  }
  void keep(CUevent_st* e) {
    std::lock_guard hold(mutex);
    all.push_back(e);
  }
};

PINION_DECL card::~card() = default;

PINION_DECL void card::enter() {
  if (is_lost_.load(std::memory_order_acquire)) pinion::detail::throw_shared(failure());
  if (is_behind_fork()) throw error(errc::failed_precondition, detail::behind_fork).on_device(device_);
  expect(cudaSetDevice(facts_.number), "cudaSetDevice");
  detail::entered_card() = facts_.number;
}

PINION_DECL card::visit::visit(int number) : before_(detail::entered_card()) {
  go(number);
}

PINION_DECL card::visit::~visit() {
  if (before_ >= 0) go(before_);
}

PINION_DECL void card::visit::go(int number) {
  detail::entered_card() = number;
  if (cudaSetDevice(number)) cudaGetLastError();
}

PINION_DECL void card::expect(int code, const char* call) {
  const auto of = static_cast<cudaError_t>(code);
  if (of == cudaSuccess) return;
  cudaGetLastError();
  const bool is_lost = detail::loses_card(of);
  const std::string what = std::string(call) + " returned " + cudaGetErrorName(of) + ", " + cudaGetErrorString(of);
  if (of == cudaErrorMemoryAllocation)
    throw error(errc::resource_exhausted, device_ + " has no memory left: " + what).on_device(device_);
  if (!is_lost) throw error(errc::internal, device_ + " failed: " + what).on_device(device_);
  const error lost = error(errc::unavailable, device_ + " (" + facts_.name + ") is lost to this program: " + what +
                                                  "; a new process may use it again")
                         .on_device(device_);
  std::lock_guard hold(mutex_);
  if (!failure_) failure_ = std::make_shared<const error>(lost);
  is_lost_.store(true, std::memory_order_release);
  pinion::detail::throw_shared(failure_);
}

PINION_DECL shared_error card::failure() const {
  std::lock_guard hold(mutex_);
  return failure_;
}

PINION_DECL std::shared_ptr<CUevent_st> card::event() {
  {
    std::lock_guard hold(mutex_);
    if (!idle_) idle_ = std::make_shared<idle_events>(facts_.number);
  }
  CUevent_st* one = idle_->take();
  if (!one) expect(cudaEventCreateWithFlags(&one, cudaEventDisableTiming | cudaEventBlockingSync), "cudaEventCreate");
  return {one, [home = idle_](CUevent_st* e) { home->keep(e); }};
}

PINION_DECL std::shared_ptr<CUevent_st> card::timed_event() {
  CUevent_st* one = nullptr;
  expect(cudaEventCreateWithFlags(&one, cudaEventBlockingSync), "cudaEventCreate");
  return {one, [number = facts_.number](CUevent_st* e) {
            const visit here(number);
            cudaEventDestroy(e);
          }};
}

PINION_DECL std::shared_ptr<const card::clock_base> card::base() {
  constexpr std::chrono::seconds fresh{4};  // CUDA tells times between events as a float of milliseconds
  const auto now = std::chrono::steady_clock::now();
  {
    std::lock_guard hold(mutex_);
    if (base_ && now - base_->time < fresh) return base_;
  }
  cudaStream_t idle = nullptr;
  expect(cudaStreamCreateWithFlags(&idle, cudaStreamNonBlocking), "cudaStreamCreate");
  const std::shared_ptr<CUstream_st> ends(idle, [](CUstream_st* s) { cudaStreamDestroy(s); });
  auto made = std::make_shared<clock_base>();
  made->event = timed_event();
  expect(cudaEventRecord(made->event.get(), idle), "cudaEventRecord");
  cudaError_t is = cudaErrorNotReady;  // a thread that slept until then would be late
  while (is == cudaErrorNotReady) is = cudaEventQuery(made->event.get());
  cudaGetLastError();  // "not ready" is no error that the launches of others may find
  made->time = std::chrono::steady_clock::now();
  expect(is, "cudaEventRecord");
  std::lock_guard hold(mutex_);
  return base_ = made;
}

}}}  // namespace pinion::v0::cuda
