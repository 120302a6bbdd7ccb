// Planning without a session: any graph, on any devices, there or not.
#pragma once

#include <initializer_list>
#include <utility>
#include <vector>

#include <pinion/graph/operation.hpp>
#include <pinion/graph/traverse.hpp>
#include <pinion/placement/any_placer.hpp>
#include <pinion/placement/plan/explain.hpp>

namespace pinion::inline v0 {

struct plan_options {
  bool allow_soft_placement = false;  // fallback mode; else strict
  device_spec home = {};              // job and task preferred where a request names neither
  cost_model costs = {};              // of the plan's estimates
};

// Where a placer would put what the fetches need, and why.
template <placer P>
plan make_plan(const graph& g, std::vector<device_info> devices, const P& place,
               std::initializer_list<operation> fetches, const plan_options& options = {}) {
  std::vector<node_id> targets;
  for (const operation& f : fetches) targets.push_back(f.id());
  const placement_problem problem{.graph = g,
                                  .nodes = ancestors(g, {}, targets),
                                  .devices = std::move(devices),
                                  .home = options.home,
                                  .soft = options.allow_soft_placement};
  plan made = explain(problem, place(problem), options.costs);
  note_doubts(made, g);
  return made;
}

}  // namespace pinion::inline v0
