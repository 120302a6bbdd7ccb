// Bodies of <pinion/train/optimizers/gradient_descent.hpp>.
#pragma once

#include <pinion/train/optimizers/gradient_descent.hpp>

namespace pinion { inline namespace v0 { namespace train {

PINION_DECL operation gradient_descent::apply_one(graph& g, node_id variable, const gradient_value& gradient,
                                                  const scalar_value& rate) const {
  return make_update<rules::gradient_descent>(g, ops_of<op::apply_gradient_descent, op::sparse_apply_gradient_descent>,
                                              {variable}, gradient, {rate});
}

}}}  // namespace pinion::v0::train
