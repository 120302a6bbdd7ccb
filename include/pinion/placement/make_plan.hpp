// Planning without a session: any graph, on any devices, there or not.
#pragma once

#include <initializer_list>
#include <utility>
#include <vector>

#include <pinion/graph/operation.hpp>
#include <pinion/graph/traverse.hpp>
#include <pinion/placement/problem.hpp>

namespace pinion::inline v0 {

// A placer: a function object from a problem to a plan.
template <class P>
concept placer = requires(const P& place, const placement_problem& problem) {
  { place(problem) } -> std::convertible_to<plan>;
};

struct plan_options {
  bool allow_soft_placement = false;
  device_spec home{};  // job and task preferred where a request names neither
};

// Where a placer would put what the fetches need.
template <placer P>
plan make_plan(const graph& g, std::vector<device_info> devices, const P& place,
               std::initializer_list<operation> fetches, const plan_options& options = {}) {
  std::vector<node_id> targets;
  for (const operation& f : fetches) targets.push_back(f.id());
  return place(placement_problem{
      g, ancestors(g, {}, targets), std::move(devices), {}, options.home, options.allow_soft_placement});
}

}  // namespace pinion::inline v0
