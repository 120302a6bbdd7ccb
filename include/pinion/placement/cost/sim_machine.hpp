// Simulated machines to plan for: devices that need not exist, with a declared speed, memory and kernels.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/placement/cost/cost_model.hpp>
#include <pinion/placement/device_info.hpp>

namespace pinion { inline namespace v0 { namespace sim {

// Devices of one kind in one task.
struct planned_device {
  std::string type = "GPU";
  int count = 1;
  double flops = 0;                     // operations a second; 0: what is usual for the type
  double memory_bandwidth = 0;          // bytes a second
  double launch = 0;                    // seconds before a kernel begins
  std::int64_t memory_limit = 0;        // bytes; 0: no limit
  std::vector<std::string> lacks = {};  // ops that have no kernel here
};

// The tasks of a simulated machine, their devices, and the links between them. A value.
//
//   pn::sim::machine m;
//   m.add("/job:worker/task:0", {.type = "CPU"}).add("/job:worker/task:0", {.type = "GPU", .count = 2});
//   auto plan = pn::make_plan(g, m.devices(), pn::cost_placer{m.costs()}, {loss});
class machine {
 public:
  machine() = default;
  explicit machine(link_speed within_task, link_speed between_tasks);

  // Adds devices to a task; throws invalid_argument on a bad task or type.
  machine& add(std::string_view task, const planned_device& like);
  const std::vector<device_info>& devices() const { return devices_; }
  const cost_model& costs() const { return costs_; }
  cost_model& costs() { return costs_; }

 private:
  std::vector<device_info> devices_;
  cost_model costs_;
};

}}}  // namespace pinion::v0::sim

#if PINION_HEADER_ONLY
#include <pinion/placement/cost/sim_machine.ipp>
#endif
