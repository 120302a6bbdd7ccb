// NVRTC, NVIDIA's compiler of CUDA C, which a program opens while it runs.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>

#include <pinion/base/config.hpp>
#include <pinion/base/outcome.hpp>
#include <pinion/device/cuda/shared_library.hpp>

namespace pinion { inline namespace v0 { namespace cuda {

// The compiler of this process, opened at its first use. It needs neither a GPU nor a driver. It counts as missing
// where the environment has PINION_CUDA_INTERPRET, so that GPUs interpret programs, and from its first failure on that
// is not about a text: of all texts to come the next would be the same. Thread-safe; threads compile beside each other.
class compiler {
 public:
  static const compiler& of_this_program();
  compiler();

  bool is_there() const { return problem_.empty() && !failure(); }
  // A sentence that tells why it is missing; empty where it is there.
  std::string problem() const;
  // Its version, such as "13.0"; empty where it is missing.
  const std::string& version() const { return version_; }
  // The code of a unit for GPUs of a compute capability: machine code, or PTX where the compiler does not know the GPU
  // yet. Throws invalid_argument with the first line of the compiler's log for a unit that it refuses,
  // resource_exhausted where it has no room for one, unavailable where the compiler itself fails, with what mends it,
  // and unimplemented where it is missing.
  std::string compile(const std::string& unit, int major, int minor) const;
  // Its own failure; null: none so far.
  shared_error failure() const;
  // Is there a failure that was not told of? It counts as told from now on.
  bool has_news() const;

 private:
  struct functions;
  [[noreturn]] void fail(const std::string& how) const;

  // NVRTC opens the second one by its bare name, and finds it open wherever it lies.
  shared_library library_, builtins_;
  std::string problem_, version_;
  std::shared_ptr<const functions> call_;
  mutable std::mutex mutex_;
  mutable shared_error failure_;
  mutable std::atomic<bool> is_told_{false};
};

}}}  // namespace pinion::v0::cuda

#if PINION_HEADER_ONLY
#include <pinion/device/cuda/compiler.ipp>
#endif
