// From a placement to a plan: the recorded reason of each device in words, and an estimate of the step.
#pragma once

#include <pinion/base/config.hpp>
#include <pinion/placement/cost/cost_model.hpp>
#include <pinion/placement/placement.hpp>
#include <pinion/placement/plan/plan.hpp>
#include <pinion/placement/plan/rewritten_step.hpp>
#include <pinion/placement/problem.hpp>

namespace pinion { inline namespace v0 {

// Requires: the placement is one of this problem. Estimates are those of the cost model. It decides nothing: reasons
// are those that the placer recorded.
plan explain(const placement_problem& problem, const placement& placed, const cost_model& costs = {});
// The plan of a step that passes rewrote after it was placed: a row for each node of the problem, which says what
// became of it, and figures of the nodes that run. Requires: the fates are those of the problem's nodes.
plan explain(const placement_problem& problem, const placement& placed, const rewritten_step& step,
             const cost_model& costs = {});

// The costs by which a placement was decided; the usual ones where its placer looked at none.
cost_model costs_of(const placement& placed);

// Adds notes on what the author of a graph may not have meant: policies that changed nothing, "policy by_op at
// model.cpp:12 was asked about 7 nodes and changed none"; guards that placed nothing; variables of the plan that were
// given another name, since theirs was taken.
void note_doubts(plan& p, graph_view g);

// Adds a note for each part of the plan that gradients compute again: the bytes that are not kept, and the operations
// that are paid for it. `g` is the graph in which pn::recompute marked the parts.
void note_recomputed(plan& p, graph& g);

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/placement/plan/explain.ipp>
#endif
