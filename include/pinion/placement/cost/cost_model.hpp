// What nodes and transfers cost: estimates from shapes and ops, or measurements where there are any.
#pragma once

#include <cstdint>
#include <functional>

#include <pinion/base/config.hpp>
#include <pinion/placement/cost/measured_costs.hpp>
#include <pinion/placement/device_info.hpp>

namespace pinion { inline namespace v0 {

// A way between two devices.
struct link_speed {
  double bandwidth = 1e10;  // bytes a second
  double latency = 0;       // seconds
  double seconds(double bytes) const { return latency + bytes / bandwidth; }
};

// A value. Seconds of a node on a device: measured, or launch + max(operations / flops, bytes touched / bandwidth), as
// a roofline has it. Seconds of a transfer: latency + bytes / bandwidth of the link; transfers do not slow each other.
struct cost_model {
  link_speed within_task = {1.2e10, 1e-5};   // between devices of one task: a PCIe 3 x16 link
  link_speed between_tasks = {1.2e9, 6e-5};  // a 10 Gbit/s network
  std::int64_t unknown_extent = 32;          // what an unknown dimension counts as
  measured_costs measured = {};
  // Instead of the two links above, where given.
  std::function<link_speed(const device_info& from, const device_info& to)> link = {};
};

// Declared, or what is usual: one core of a server, one accelerator of 2020.
device_speed speed_of(const device_info& d);

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/placement/cost/cost_model.ipp>
#endif
