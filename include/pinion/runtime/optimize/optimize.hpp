// Optimizes a placed step before it is cut: folds constants, shares common nodes, folds transpositions and maps into
// their consumers, reductions among them, and drops nodes that are then unused.
#pragma once

#include <pinion/base/config.hpp>
#include <pinion/placement/plan/explain.hpp>
#include <pinion/runtime/optimize/placed_draft.hpp>

namespace pinion { inline namespace v0 { namespace runtime {

inline constexpr std::int64_t largest_folded_constant = 1 << 20;  // bytes

// Optimizes a copy of the step; the graph is unchanged. Every fetch yields the same value, up to rounding. Products
// that are gradients are folded into their updates, which come last and keep what they read until then. So they are not
// folded where memory is to be spared, and where the step has copies that compute values again.
optimized_step optimize(graph_view g, const placement& placed, const step_signature& signature,
                        bool spares_memory = false);

// The plan of a step that runs as it was placed, or as optimize() left it; `soft` says whether requests were loosened.
// Requires: the devices are those of the placement. Only they know the libraries of GPUs.
plan explain(graph_view g, const placement& placed, const optimized_step& step, std::vector<device_info> devices,
             bool soft, const cost_model& costs = {});

}}}  // namespace pinion::v0::runtime

#if PINION_HEADER_ONLY
#include <pinion/runtime/optimize/optimize.ipp>
#endif
