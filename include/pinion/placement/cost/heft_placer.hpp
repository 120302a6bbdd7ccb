// HEFT as a placer: nodes with the longest way to the end first, each where it is done first, in gaps if there are any.
#pragma once

#include <pinion/base/config.hpp>
#include <pinion/placement/cost/cost_model.hpp>
#include <pinion/placement/placement.hpp>
#include <pinion/placement/problem.hpp>

namespace pinion { inline namespace v0 {

// A placer. Throws as class placing does. Source: Topcuoglu, Hariri, Wu, "Performance-effective and low-complexity task
// scheduling for heterogeneous computing", IEEE TPDS 13(3), 2002. Here it places groups: the first member decides.
struct heft_placer {
  cost_model costs = {};

  placement operator()(const placement_problem& p) const;
};

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/placement/cost/heft_placer.ipp>
#endif
