// Bodies of <pinion/train/optimizers/rmsprop.hpp>.
#pragma once

#include <pinion/train/optimizers/rmsprop.hpp>

namespace pinion { inline namespace v0 { namespace train {

PINION_DECL operation rmsprop::apply_one(graph& g, node_id variable, const gradient_value& gradient,
                                         const scalar_value& rate) const {
  const std::array<scalar_value, 4> numbers{rate, o_.decay, o_.momentum, o_.epsilon};
  const node_id square = slot(g, variable, "rms", 1), mean = o_.centered ? slot(g, variable, "mg", 0) : no_node,
                step = slot(g, variable, "momentum", 0);
  if (o_.centered)
    return make_update<rules::centered_rmsprop>(g,
                                                ops_of<op::apply_centered_rmsprop, op::sparse_apply_centered_rmsprop>,
                                                {variable, square, mean, step}, gradient, numbers);
  return make_update<rules::rmsprop>(g, ops_of<op::apply_rmsprop, op::sparse_apply_rmsprop>, {variable, square, step},
                                     gradient, numbers);
}

}}}  // namespace pinion::v0::train
