// Bodies of <pinion/train/optimizers/moments.hpp>.
#pragma once

#include <pinion/train/optimizers/moments.hpp>
#include <pinion/train/optimizers/optimizer.hpp>

namespace pinion { inline namespace v0 { namespace train { namespace detail {

PINION_DECL operation average_into(graph& g, node_id average, const gradient_value& value, const scalar_value& part) {
  constexpr update_ops ops = ops_of<op::apply_moving_average, op::sparse_apply_moving_average>;
  return make_update<rules::moving_average>(g, ops, {average}, value, {part});
}

PINION_DECL operation average_square_into(graph& g, node_id average, const gradient_value& value,
                                          const scalar_value& part) {
  constexpr update_ops ops = ops_of<op::apply_moving_square, op::sparse_apply_moving_square>;
  return make_update<rules::moving_square>(g, ops, {average}, value, {part});
}

PINION_DECL operation subtract_from(graph& g, node_id sum, const gradient_value& value, const scalar_value& rate) {
  constexpr update_ops ops = ops_of<op::apply_gradient_descent, op::sparse_apply_gradient_descent>;
  return make_update<rules::gradient_descent>(g, ops, {sum}, value, {rate});
}

PINION_DECL operation descend(graph& g, node_id variable, output step, const scalar_value& rate) {
  return subtract_from(g, variable, {step, {}, {}}, rate);
}

}}}}  // namespace pinion::v0::train::detail
