// Machines that are not here: devices with a declared speed, memory and kernels, to plan for.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <pinion/placement/cost/cost_model.hpp>

namespace pinion::inline v0::sim {

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

// Tasks, their devices, and the links between them. A value.
//
//   pn::sim::machine m;
//   m.add("/job:worker/task:0", {.type = "CPU"}).add("/job:worker/task:0", {.type = "GPU", .count = 2});
//   auto plan = pn::make_plan(g, m.devices(), pn::cost_placer{m.costs()}, {loss});
class machine {
 public:
  machine() = default;
  explicit machine(link_speed within_task, link_speed between_tasks) {
    costs_.within_task = within_task;
    costs_.between_tasks = between_tasks;
  }

  // More devices of a task; throws invalid_argument on a bad task or type.
  machine& add(std::string_view task, const planned_device& like) {
    const device_spec at = parse_device(task);
    const device_spec full = at.with_replica(at.replica() < 0 ? 0 : at.replica()).with_type(like.type);
    if (at.job().empty() || at.task() < 0)
      throw error(errc::invalid_argument, "'" + std::string(task) + "' names no task; write /job:J/task:N");
    if (full.type().empty() || like.count < 0)
      throw error(errc::invalid_argument, "a planned device of '" + std::string(task) + "' has type '" + like.type +
                                              "' and count " + std::to_string(like.count) +
                                              "; write a type and how many there are");
    int next = 0;
    for (const auto& d : devices_)
      if (in_one_task(d.spec, full) && d.spec.type() == full.type()) ++next;
    for (int i = 0; i < like.count; ++i) {
      const device_spec spec = full.with_index(next + i);
      devices_.push_back({.spec = spec,
                          .name = to_string(spec),
                          .memory_limit = like.memory_limit,
                          .description = "planned " + std::string(spec.type()),
                          .speed = {like.flops, like.memory_bandwidth, like.launch},
                          .lacks = like.lacks});
    }
    return *this;
  }
  const std::vector<device_info>& devices() const { return devices_; }
  const cost_model& costs() const { return costs_; }
  cost_model& costs() { return costs_; }

 private:
  std::vector<device_info> devices_;
  cost_model costs_;
};

}  // namespace pinion::inline v0::sim
