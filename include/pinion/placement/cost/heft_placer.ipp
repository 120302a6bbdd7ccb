// Bodies of <pinion/placement/cost/heft_placer.hpp>.
#pragma once

#include <memory>

#include <pinion/placement/cost/earliest_finish.hpp>
#include <pinion/placement/cost/heft_placer.hpp>

namespace pinion { inline namespace v0 {

PINION_DECL placement heft_placer::operator()(const placement_problem& p) const {
  placing work(p);
  const step_costs steps(p, work.groups(), costs);
  earliest_finish(steps, work).run(list_order::upward_rank);
  return work.result(std::make_shared<const cost_model>(costs));
}

}}  // namespace pinion::v0
