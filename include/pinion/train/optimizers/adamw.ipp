// Bodies of <pinion/train/optimizers/adamw.hpp>.
#pragma once

#include <pinion/train/optimizers/adamw.hpp>
#include <pinion/train/optimizers/optimizer_state.hpp>
#include <pinion/train/optimizers/option_checks.hpp>

namespace pinion { inline namespace v0 { namespace train {

PINION_DECL adamw::adamw(const options& o) : o_(o) {
  for (const double beta : {o.beta1, o.beta2}) detail::expect_part("a beta", "adamw", beta);
  detail::expect_amount("the weight_decay", "adamw", o.weight_decay);
}

PINION_DECL scalar_value adamw::rate(graph& g, const std::vector<gradient_of_variable>& gradients) const {
  return detail::corrected_rate(made(), g, name, o_.learning_rate, detail::beta_powers(o_.beta1, o_.beta2), gradients);
}

PINION_DECL operation adamw::apply_one(graph& g, node_id variable, const gradient_value& gradient,
                                       const scalar_value& rate) const {
  const std::array<node_id, 3> states{variable, slot(g, variable, "m", 0), slot(g, variable, "v", 0)};
  const gradient_value by = o_.lazy ? gradient : detail::dense_gradient(g, variable, gradient);
  if (o_.weight_decay == 0 || !detail::says_of(o_.decays, g, variable))
    return make_update<rules::adam>(g, ops_of<op::apply_adam, op::sparse_apply_adam>, states, by,
                                    {rate, o_.beta1, o_.beta2, o_.epsilon});
  const scalar_value plain(detail::rate_of_variable(g, variable, o_.learning_rate));
  return make_update<rules::adamw>(g, ops_of<op::apply_adamw, op::sparse_apply_adamw>, states, by,
                                   {rate, plain, o_.beta1, o_.beta2, o_.epsilon, o_.weight_decay});
}

PINION_DECL std::vector<operation> adamw::finish(graph& g, const std::vector<operation>& updates) const {
  return detail::multiply_powers(made(), g, name, detail::beta_powers(o_.beta1, o_.beta2), updates);
}

}}}  // namespace pinion::v0::train
