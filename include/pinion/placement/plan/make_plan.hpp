// Plans without a session: of any graph, for devices that need not exist.
//
// Devices are described by device_info: a full spec and its text, and, for estimates, memory and speed. A session's own
// are list_devices().
#pragma once

#include <initializer_list>
#include <optional>
#include <utility>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/graph/operation.hpp>
#include <pinion/placement/any_placer.hpp>
#include <pinion/placement/plan/explain.hpp>

namespace pinion { inline namespace v0 {

// Strict means that a request which no device meets throws invalid_argument, with the node and the devices there are.
// In fallback mode the type and index of a device give way, and the plan's fallbacks() have the reasons; a job or task
// that is not there is refused in both.
struct plan_options {
  bool allow_soft_placement = false;     // fallback mode; else strict
  device_spec home = {};                 // job and task preferred where a request names neither
  std::optional<cost_model> costs = {};  // of the plan's estimates; nothing: those of the placer, if it has some
};

namespace detail {
plan plan_with(const any_placer& place, graph_view g, std::vector<device_info> devices,
               std::initializer_list<operation> fetches, const plan_options& options);
}

// The plan of what the fetches need, as a placer places it. Nodes are planned as they were made: sessions optimize. It
// serves to plan for a machine that is not there: the devices are described, not opened.
//
//   const pn::device_spec cpu = pn::parse_device("/job:a/replica:0/task:0/cpu:0");
//   fmt::print("{}\n", pn::make_plan(g, {{.spec = cpu, .name = to_string(cpu)}}, pn::simple_placer{}, {loss}));
//
// Requires: the fetches are of g. Throws the errors of the placer where a node cannot be placed.
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
