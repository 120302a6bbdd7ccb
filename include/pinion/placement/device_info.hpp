// A device as a placer sees it, whether it exists or is only planned for.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <pinion/spec/device_spec.hpp>

namespace pinion { inline namespace v0 {

// The speed of a device, for estimates. A zero stands for what is usual for its type.
struct device_speed {
  double flops = 0;             // operations a second
  double memory_bandwidth = 0;  // bytes a second that a kernel reads and writes
  double launch = 0;            // seconds before a kernel begins
  friend bool operator==(const device_speed&, const device_speed&) = default;
};

// A device that nodes can be placed on. A value.
struct device_info {
  device_spec spec = {};
  std::string name = {};                    // the full text of the spec
  std::int64_t memory_limit = 0;            // bytes; 0: not known
  std::string description = {};             // empty for a CPU
  device_speed speed = {};                  // as declared; planning tools set it
  std::vector<std::string> lacks = {};      // ops without a kernel here, although its type has one
  std::string no_gpus = {};                 // why its task has no GPUs of the machine; empty: it has, or nobody looked
  bool is_cuda = false;                     // its kernels are CUDA; else they are host code
  std::vector<std::string> libraries = {};  // "NVRTC", "cuBLASLt", "cuDNN" where it found them; a plan's devices know
  bool memory_is_limited = true;            // false: memory_limit is a nominal figure, as of a CPU
  friend bool operator==(const device_info&, const device_info&) = default;
};

}}  // namespace pinion::v0
