// Bodies of <pinion/placement/cost/sim_machine.hpp>.
#pragma once

#include <pinion/base/error.hpp>
#include <pinion/placement/cost/sim_machine.hpp>

namespace pinion { inline namespace v0 { namespace sim {

PINION_DECL machine::machine(link_speed within_task, link_speed between_tasks) {
  costs_.within_task = within_task;
  costs_.between_tasks = between_tasks;
}

PINION_DECL machine& machine::add(std::string_view task, const planned_device& like) {
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

}}}  // namespace pinion::v0::sim
