// What nodes and transfers cost: estimates from shapes and ops, or measurements where there are any.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string_view>

#include <pinion/op/work_context.hpp>
#include <pinion/placement/cost/measured_costs.hpp>
#include <pinion/placement/problem.hpp>

namespace pinion::inline v0 {

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
inline device_speed speed_of(const device_info& d) {
  device_speed usual = d.spec.type() == "CPU" ? device_speed{5e10, 2e10, 1e-6} : device_speed{1e13, 1e12, 5e-6};
  if (d.speed.flops > 0) usual.flops = d.speed.flops;
  if (d.speed.memory_bandwidth > 0) usual.memory_bandwidth = d.speed.memory_bandwidth;
  if (d.speed.launch > 0) usual.launch = d.speed.launch;
  return usual;
}

}  // namespace pinion::inline v0
