// Bodies of <pinion/train/optimizers/momentum.hpp>.
#pragma once

#include <pinion/train/optimizers/momentum.hpp>

namespace pinion { inline namespace v0 { namespace train {

PINION_DECL operation momentum::apply_one(graph& g, node_id variable, const gradient_value& gradient,
                                          const scalar_value& rate) const {
  const std::array<node_id, 2> states{variable, slot(g, variable, "momentum", 0)};
  constexpr update_ops ops = ops_of<op::apply_momentum, op::sparse_apply_momentum>;
  if (o_.use_nesterov) return make_update<rules::nesterov>(g, ops, states, gradient, {rate, o_.momentum});
  return make_update<rules::momentum>(g, ops, states, gradient, {rate, o_.momentum});
}

}}}  // namespace pinion::v0::train
