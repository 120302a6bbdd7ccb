// Bodies of <pinion/train/optimizers/lion.hpp>.
#pragma once

#include <pinion/train/optimizers/lion.hpp>
#include <pinion/train/optimizers/optimizer_state.hpp>
#include <pinion/train/optimizers/option_checks.hpp>

namespace pinion { inline namespace v0 { namespace train {

PINION_DECL lion::lion(const options& o) : o_(o) {
  for (const double beta : {o.beta1, o.beta2}) detail::expect_part("a beta", "lion", beta);
  detail::expect_amount("the weight_decay", "lion", o.weight_decay);
}

PINION_DECL operation lion::apply_one(graph& g, node_id variable, const gradient_value& gradient,
                                      const scalar_value& rate) const {
  const double decay = detail::says_of(o_.decays, g, variable) ? o_.weight_decay : 0;
  return make_update<rules::lion>(g, ops_of<op::apply_lion, op::sparse_apply_lion>,
                                  {variable, slot(g, variable, "momentum", 0)}, gradient,
                                  {rate, o_.beta1, o_.beta2, decay});
}

}}}  // namespace pinion::v0::train
