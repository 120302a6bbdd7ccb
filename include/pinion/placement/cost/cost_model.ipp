// Bodies of <pinion/placement/cost/cost_model.hpp>.
#pragma once

#include <pinion/placement/cost/cost_model.hpp>

namespace pinion { inline namespace v0 {

PINION_DECL device_speed speed_of(const device_info& d) {
  device_speed usual = d.spec.type() == "CPU" ? device_speed{5e10, 2e10, 1e-6} : device_speed{1e13, 1e12, 5e-6};
  if (d.speed.flops > 0) usual.flops = d.speed.flops;
  if (d.speed.memory_bandwidth > 0) usual.memory_bandwidth = d.speed.memory_bandwidth;
  if (d.speed.launch > 0) usual.launch = d.speed.launch;
  return usual;
}

}}  // namespace pinion::v0
