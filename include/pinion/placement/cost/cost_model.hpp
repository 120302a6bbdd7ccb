// The cost model: seconds of nodes and of transfers, estimated from shapes and ops, or measured.
#pragma once

#include <cstdint>
#include <functional>

#include <pinion/base/config.hpp>
#include <pinion/placement/cost/measured_costs.hpp>
#include <pinion/placement/device_info.hpp>

namespace pinion { inline namespace v0 {

// The speed of a link between two devices.
struct link_speed {
  double bandwidth = 1e10;  // bytes a second
  double latency = 0;       // seconds
  double seconds(double bytes) const { return latency + bytes / bandwidth; }
};

// A value. The seconds of a node on a device are those measured, or else launch + max(operations / flops, bytes touched
// / bandwidth), as in a roofline model. The seconds of a transfer are latency + bytes / bandwidth of the link;
// transfers do not slow each other.
struct cost_model {
  link_speed within_task = {1.2e10, 1e-5};   // between devices of one task: a PCIe 3 x16 link
  link_speed between_tasks = {1.2e9, 6e-5};  // a 10 Gbit/s network
  std::int64_t unknown_extent = 32;          // the size that an unknown dimension counts as
  measured_costs measured = {};
  // The bytes of values that a device receives ahead of their readers, see late_receives; 0: without a limit.
  std::int64_t receive_ahead = 0;
  // Where given, it is asked instead of the two links above.
  std::function<link_speed(const device_info& from, const device_info& to)> link = {};
};

// The declared speed of a device, or the usual one of its type: a core of a server, an accelerator of 2020.
device_speed speed_of(const device_info& d);

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/placement/cost/cost_model.ipp>
#endif
