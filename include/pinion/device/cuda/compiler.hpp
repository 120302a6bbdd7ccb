// NVRTC, NVIDIA's compiler of CUDA C, which a program opens while it runs.
#pragma once

#include <memory>
#include <string>

#include <pinion/base/config.hpp>
#include <pinion/device/cuda/shared_library.hpp>

namespace pinion { inline namespace v0 { namespace cuda {

// The compiler of this process, opened at its first use. It needs neither a GPU nor a driver. It counts as missing
// where the environment has PINION_CUDA_INTERPRET, so that GPUs interpret programs. Thread-safe; threads compile beside
// each other.
class compiler {
 public:
  static const compiler& of_this_program();
  compiler();

  bool is_there() const { return problem_.empty(); }
  // A sentence that tells why it is missing; empty where it is there.
  const std::string& problem() const { return problem_; }
  // Its version, such as "13.0"; empty where it is missing.
  const std::string& version() const { return version_; }
  // The code of a unit for GPUs of a compute capability: machine code, or PTX where the compiler does not know the GPU
  // yet. Throws invalid_argument with the first line of the compiler's log for a unit that it refuses,
  // resource_exhausted where it has no room for one, and unimplemented where it is missing.
  std::string compile(const std::string& unit, int major, int minor) const;

 private:
  struct functions;

  shared_library library_;
  std::string problem_, version_;
  std::shared_ptr<const functions> call_;
};

}}}  // namespace pinion::v0::cuda

#if PINION_HEADER_ONLY
#include <pinion/device/cuda/compiler.ipp>
#endif
