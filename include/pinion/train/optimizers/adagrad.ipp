// Bodies of <pinion/train/optimizers/adagrad.hpp>.
#pragma once

#include <pinion/base/number_text.hpp>
#include <pinion/train/optimizers/adagrad.hpp>

namespace pinion { inline namespace v0 { namespace train {

PINION_DECL adagrad::adagrad(const options& o) : o_(o) {
  if (!(o.initial_accumulator_value > 0))
    throw error(errc::invalid_argument, "the initial_accumulator_value of adagrad is " +
                                            number_text(o.initial_accumulator_value) + "; it must be positive");
}

PINION_DECL operation adagrad::apply_one(graph& g, node_id variable, const gradient_value& gradient,
                                         const scalar_value& rate) const {
  const node_id sum = slot(g, variable, "accumulator", o_.initial_accumulator_value);
  return make_update<rules::adagrad>(g, ops_of<op::apply_adagrad, op::sparse_apply_adagrad>, {variable, sum}, gradient,
                                     {rate});
}

}}}  // namespace pinion::v0::train
