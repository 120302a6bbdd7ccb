// A device as a placer sees it: there, or only thought of.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <pinion/spec/device_spec.hpp>

namespace pinion { inline namespace v0 {

// How fast a device is, for estimates. Zeros: what is usual for its type.
struct device_speed {
  double flops = 0;             // operations a second
  double memory_bandwidth = 0;  // bytes a second that a kernel reads and writes
  double launch = 0;            // seconds before a kernel begins
  friend bool operator==(const device_speed&, const device_speed&) = default;
};

// A value.
struct device_info {
  device_spec spec = {};
  std::string name = {};                // the full text of the spec
  std::int64_t memory_limit = 0;        // bytes; 0: not known
  std::string description = {};         // empty for a CPU
  device_speed speed = {};              // declared by who plans
  std::vector<std::string> lacks = {};  // ops without a kernel here, although the device type has one
  bool memory_is_limited = true;        // false: memory_limit is a nominal figure, as of a CPU
};

}}  // namespace pinion::v0
