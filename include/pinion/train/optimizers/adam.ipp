// Bodies of <pinion/train/optimizers/adam.hpp>.
#pragma once

#include <pinion/train/optimizers/adam.hpp>
#include <pinion/train/optimizers/optimizer_state.hpp>
#include <pinion/train/optimizers/option_checks.hpp>

namespace pinion { inline namespace v0 { namespace train {

PINION_DECL adam::adam(const options& o) : o_(o) {
  for (const double beta : {o.beta1, o.beta2}) detail::expect_part("a beta", "adam", beta);
}

PINION_DECL scalar_value adam::rate(graph& g, const std::vector<gradient_of_variable>& gradients) const {
  return detail::corrected_rate(made(), g, name, o_.learning_rate, detail::beta_powers(o_.beta1, o_.beta2), gradients);
}

PINION_DECL operation adam::apply_one(graph& g, node_id variable, const gradient_value& gradient,
                                      const scalar_value& rate) const {
  const node_id m = slot(g, variable, "m", 0), v = slot(g, variable, "v", 0);
  return make_update<rules::adam>(g, ops_of<op::apply_adam, op::sparse_apply_adam>, {variable, m, v},
                                  o_.lazy ? gradient : detail::dense_gradient(g, variable, gradient),
                                  {rate, o_.beta1, o_.beta2, o_.epsilon});
}

PINION_DECL std::vector<operation> adam::finish(graph& g, const std::vector<operation>& updates) const {
  return detail::multiply_powers(made(), g, name, detail::beta_powers(o_.beta1, o_.beta2), updates);
}

}}}  // namespace pinion::v0::train
