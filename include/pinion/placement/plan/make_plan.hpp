// Plans without a session: of any graph, for devices that need not exist.
#pragma once

#include <initializer_list>
#include <utility>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/graph/operation.hpp>
#include <pinion/placement/any_placer.hpp>
#include <pinion/placement/plan/explain.hpp>

namespace pinion { inline namespace v0 {

struct plan_options {
  bool allow_soft_placement = false;  // fallback mode; else strict
  device_spec home = {};              // job and task preferred where a request names neither
  cost_model costs = {};              // of the plan's estimates
};

namespace detail {
plan plan_with(const any_placer& place, graph_view g, std::vector<device_info> devices,
               std::initializer_list<operation> fetches, const plan_options& options);
}

// The plan of what the fetches need, as a placer places it. Nodes are planned as they were made: sessions optimize.
template <placer P>
plan make_plan(graph_view g, std::vector<device_info> devices, const P& place, std::initializer_list<operation> fetches,
               const plan_options& options = {}) {
  const auto ask = [&place](const placement_problem& p) -> placement { return place(p); };
  return detail::plan_with(ask, g, std::move(devices), fetches, options);
}

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/placement/plan/make_plan.ipp>
#endif
