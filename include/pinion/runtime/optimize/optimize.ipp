// Bodies of <pinion/runtime/optimize/optimize.hpp>.
#pragma once

#include <algorithm>

#include <pinion/autodiff/remake.hpp>
#include <pinion/base/cancellable_work.hpp>
#include <pinion/op/rewrites.hpp>
#include <pinion/op/variable/fold_gradients.hpp>
#include <pinion/runtime/optimize/fold_constants.hpp>
#include <pinion/runtime/optimize/optimize.hpp>
#include <pinion/runtime/optimize/order_initial_values.hpp>
#include <pinion/runtime/optimize/share_common.hpp>

namespace pinion { inline namespace v0 { namespace runtime {

PINION_DECL optimized_step optimize(graph_view g, const placement& placed, const step_signature& signature,
                                    bool spares_memory) {
  const bool spares = spares_memory || std::any_of(placed.nodes().begin(), placed.nodes().end(),
                                                   [&](node_id id) { return autodiff::is_copy(g[id]); });
  placed_draft d(g, placed, signature);
  order_initial_values(d);
  fold_constants(d, largest_folded_constant);
  d.count_uses();
  for (const op::rewrite improve : op::early_rewrites()) improve(d);
  share_common(d);
  d.drop_dead();
  for (const op::rewrite improve : op::late_rewrites()) {
    cancellable_work::check();
    if (spares && improve == &op::fold_gradients) continue;
    d.count_uses();
    if (improve(d) > 0) d.drop_dead();
  }
  return d.finished();
}

PINION_DECL plan explain(graph_view g, const placement& placed, const optimized_step& step,
                         std::vector<device_info> devices, bool soft, const cost_model& costs) {
  const placement_problem problem{.graph = g, .nodes = placed.nodes(), .devices = std::move(devices), .soft = soft};
  if (!step.graph) return pinion::explain(problem, placed, costs);
  return pinion::explain(problem, placed, {graph_view::of_settled(*step.graph), step.placement, step.fates}, costs);
}

}}}  // namespace pinion::v0::runtime
