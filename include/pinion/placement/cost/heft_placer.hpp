// HEFT as a placer: the longest way to the end first, each node where it is done first, gaps used.
#pragma once

#include <pinion/placement/cost/cost_model.hpp>
#include <pinion/placement/placement.hpp>
#if PINION_DEFINE_GRAPH
#include <pinion/placement/cost/earliest_finish.hpp>
#endif

namespace pinion::inline v0 {

// A function object from a problem to a placement. Throws as class placing does. Source: Topcuoglu, Hariri, Wu,
// "Performance-effective and low-complexity task scheduling for heterogeneous computing", IEEE TPDS 13(3), 2002; here
// over groups that must stand together, whose first member decides.
struct heft_placer {
  cost_model costs = {};

  PINION_DECL placement operator()(const placement_problem& p) const;
};

#if PINION_DEFINE_GRAPH
PINION_DECL placement heft_placer::operator()(const placement_problem& p) const {
  placing work(p);
  const step_costs steps(p, work.groups(), costs);
  earliest_finish(steps, work).run(list_order::upward_rank);
  return work.result();
}
#endif

}  // namespace pinion::inline v0
