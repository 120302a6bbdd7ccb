// Bodies of <pinion/placement/plan/make_plan.hpp>.
#pragma once

#include <utility>

#include <pinion/graph/traverse.hpp>
#include <pinion/placement/plan/make_plan.hpp>

namespace pinion { inline namespace v0 { namespace detail {

PINION_DECL plan plan_with(const any_placer& place, graph_view g, std::vector<device_info> devices,
                           std::initializer_list<operation> fetches, const plan_options& options) {
  std::vector<node_id> targets;
  for (const operation& f : fetches) targets.push_back(f.id(g.owner()));
  const placement_problem problem{.graph = g,
                                  .nodes = ancestors(g, {}, targets),
                                  .devices = std::move(devices),
                                  .home = options.home,
                                  .soft = options.allow_soft_placement};
  const placement placed = place(problem);
  plan made = explain(problem, placed, options.costs ? *options.costs : costs_of(placed));
  note_doubts(made, g);
  if (fetches.size() > 0) note_recomputed(made, fetches.begin()->owner());
  return made;
}

}}}  // namespace pinion::v0::detail
