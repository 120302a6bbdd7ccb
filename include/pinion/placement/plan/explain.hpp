// From a placement to a plan: the device of each node, why, and what a step would take.
#pragma once

#include <pinion/base/config.hpp>
#include <pinion/placement/cost/cost_model.hpp>
#include <pinion/placement/placement.hpp>
#include <pinion/placement/plan/plan.hpp>
#include <pinion/placement/problem.hpp>

namespace pinion { inline namespace v0 {

// Requires: the placement is one of this problem. Estimates are those of the cost model.
plan explain(const placement_problem& problem, const placement& placed, const cost_model& costs = {});

// Notes on what its graph may not be meant to be. Policies that changed nothing, "policy by_op at model.cpp:12 was
// asked about 7 nodes and changed none"; guards that placed nothing; variables of the plan whose names were taken.
void note_doubts(plan& p, const graph& g);

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/placement/plan/explain.ipp>
#endif
