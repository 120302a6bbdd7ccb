// Bodies of <pinion/train/optimizers/lamb.hpp>.
#pragma once

#include <pinion/train/optimizers/lamb.hpp>
#include <pinion/train/optimizers/moments.hpp>
#include <pinion/train/optimizers/optimizer_state.hpp>
#include <pinion/train/optimizers/option_checks.hpp>
#include <pinion/train/optimizers/rate_node.hpp>
#include <pinion/train/optimizers/slot_table.hpp>
#include <pinion/train/optimizers/step_node.hpp>

namespace pinion { inline namespace v0 { namespace train {

PINION_DECL lamb::lamb(const options& o) : o_(o) {
  for (const double beta : {o.beta1, o.beta2}) detail::expect_part("a beta", "lamb", beta);
  detail::expect_amount("the epsilon", "lamb", o.epsilon);
  detail::expect_amount("the weight_decay", "lamb", o.weight_decay);
}

PINION_DECL scalar_value lamb::rate(graph& g, const std::vector<gradient_of_variable>& gradients) const {
  const node_id first = detail::first_by_name(g, gradients);
  for (const auto& [power, beta] : detail::beta_powers(o_.beta1, o_.beta2))
    detail::shared_number(made(), g, first, std::string(power), beta);
  return o_.learning_rate;
}

PINION_DECL scalar_value lamb::correction(graph& g, std::string_view power) const {
  const node_id factor = made().find_or_make(g, no_node, std::string(power) + "/correction", [&] {
    const control_dependencies none{nullptr};
    const auto number = handle_of<double>(g, made().find(g, no_node, power));
    const colocate_with near{operation(number)};
    return detail::rate_node<rates::corrected>(g, "LAMB/correction", {1, number}).id(g);
  });
  return scalar_value(any_expr(g, {factor, 0}));
}

PINION_DECL scalar_value lamb::trusted(graph& g, node_id variable, const scalar_value& rate, output weights,
                                       output step) const {
  if (!detail::says_of(o_.adapts ? o_.adapts : o_.decays, g, variable)) return rate;
  const output plain = detail::rate_of_variable(g, variable, rate).endpoint(g);
  const output norms[]{detail::sum_of_squares(g, weights), detail::sum_of_squares(g, step)};
  const std::string at = g[variable].name + "/LAMB/rate";
  return scalar_value(any_expr(g, detail::step_node<steps::trust_rate>(g, at, {plain, norms[0], norms[1]})));
}

PINION_DECL operation lamb::apply_one(graph& g, node_id variable, const gradient_value& gradient,
                                      const scalar_value& rate) const {
  const node_id m = slot(g, variable, "m", 0), v = slot(g, variable, "v", 0);
  const output c[]{detail::rate_of_variable(g, variable, correction(g, "beta1_power")).endpoint(g),
                   detail::rate_of_variable(g, variable, correction(g, "beta2_power")).endpoint(g)};
  const gradient_value by = detail::dense_gradient(g, variable, gradient);
  const colocate_with near(operation(g, variable));
  const control_dependencies after{detail::average_into(g, m, by, 1 - o_.beta1),
                                   detail::average_square_into(g, v, by, 1 - o_.beta2)};
  const output weights = detail::value_of_variable(g, variable);
  const double decay = detail::says_of(o_.decays, g, variable) ? o_.weight_decay : 0;
  const output step = detail::step_node<steps::lamb_direction>(
      g, g[variable].name + "/LAMB/direction",
      {weights, detail::value_of_variable(g, m), detail::value_of_variable(g, v), c[0], c[1]}, {o_.epsilon, decay});
  return detail::descend(g, variable, step, trusted(g, variable, rate, weights, step));
}

PINION_DECL std::vector<operation> lamb::finish(graph& g, const std::vector<operation>& updates) const {
  return detail::multiply_powers(made(), g, name, detail::beta_powers(o_.beta1, o_.beta2), updates);
}

}}}  // namespace pinion::v0::train
