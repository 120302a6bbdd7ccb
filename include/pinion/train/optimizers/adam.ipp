// Bodies of <pinion/train/optimizers/adam.hpp>.
#pragma once

#include <algorithm>

#include <pinion/autodiff/gradients.hpp>
#include <pinion/base/number_text.hpp>
#include <pinion/graph/scopes.hpp>
#include <pinion/op/variable/variable.hpp>
#include <pinion/train/optimizers/adam.hpp>
#include <pinion/train/optimizers/rate_node.hpp>
#include <pinion/train/optimizers/slot_table.hpp>

namespace pinion { inline namespace v0 { namespace train {

PINION_DECL adam::adam(const options& o) : o_(o) {
  for (const double beta : {o.beta1, o.beta2})
    if (!(beta >= 0 && beta < 1))
      throw error(errc::invalid_argument, "a beta of adam is " + number_text(beta) + "; it must be in [0, 1)");
}

PINION_DECL scalar_value adam::rate(graph& g, const std::vector<gradient_of_variable>& gradients) const {
  const auto by_name = [&](const auto& a, const auto& b) { return g[a.variable].name < g[b.variable].name; };
  const node_id first = std::min_element(gradients.begin(), gradients.end(), by_name)->variable;
  const auto one = power(g, first, "beta1_power", o_.beta1), two = power(g, first, "beta2_power", o_.beta2);
  const colocate_with near{operation(one)};
  return scalar_value(detail::rate_node<rates::adam>(g, "Adam/rate", {o_.learning_rate, one, two}));
}

PINION_DECL operation adam::apply_one(graph& g, node_id variable, const gradient_value& gradient,
                                      const scalar_value& rate) const {
  const node_id m = slot(g, variable, "m", 0), v = slot(g, variable, "v", 0);
  return make_update<rules::adam>(g, ops_of<op::apply_adam, op::sparse_apply_adam>, {variable, m, v},
                                  o_.lazy ? gradient : dense(g, variable, gradient),
                                  {rate, o_.beta1, o_.beta2, o_.epsilon});
}

PINION_DECL std::vector<operation> adam::finish(graph& g, const std::vector<operation>& updates) const {
  std::vector<operation> all;
  for (const auto& [slot_name, beta] : {std::pair{"beta1_power", o_.beta1}, {"beta2_power", o_.beta2}}) {
    const node_id power = made().find(g, no_node, slot_name);
    const colocate_with near(operation(g, power));
    node_request request{.op = op::assign_multiply::name,
                         .base_name = "Adam/" + std::string(slot_name),
                         .inputs = {{power, 0}, constant(beta, "Adam/beta").endpoint(g)}};
    for (const operation& u : updates) request.control_inputs.push_back(u.id(g));
    all.emplace_back(g, build(g, std::move(request)));
  }
  return all;
}

PINION_DECL variable_handle<double> adam::power(graph& g, node_id first, const std::string& slot_name,
                                                double beta) const {
  return handle_of<double>(g, made().find_or_make(g, no_node, slot_name, [&] {
    const control_dependencies none{nullptr};
    const colocate_with near(operation(g, first));
    return variable(beta, {.name = slot_name, .trainable = false}, g[first].where).id(g);
  }));
}

PINION_DECL gradient_value adam::dense(graph& g, node_id variable, const gradient_value& gradient) {
  if (!gradient.is_sparse()) return gradient;
  const colocate_with near(operation(g, variable));
  return {autodiff::to_dense(g, gradient, {variable_of(g, variable).read_id(g), 0}), {}, {}};
}

}}}  // namespace pinion::v0::train
