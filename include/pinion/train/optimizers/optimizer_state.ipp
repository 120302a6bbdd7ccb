// Bodies of <pinion/train/optimizers/optimizer_state.hpp>.
#pragma once

#include <algorithm>
#include <utility>

#include <pinion/autodiff/gradients.hpp>
#include <pinion/graph/scopes.hpp>
#include <pinion/op/source/functions.hpp>
#include <pinion/op/variable/functions.hpp>
#include <pinion/op/variable/slices.hpp>
#include <pinion/train/formula.hpp>
#include <pinion/train/handle.hpp>
#include <pinion/train/optimizers/conditional_writes.hpp>
#include <pinion/train/optimizers/optimizer_state.hpp>
#include <pinion/train/optimizers/rate_node.hpp>
#include <pinion/train/optimizers/slot_table.hpp>

namespace pinion { inline namespace v0 { namespace train { namespace detail {

PINION_DECL node_id first_by_name(graph& g, const std::vector<gradient_of_variable>& gradients) {
  const auto by_name = [&](const auto& a, const auto& b) { return g[a.variable].name < g[b.variable].name; };
  return std::min_element(gradients.begin(), gradients.end(), by_name)->variable;
}

PINION_DECL std::vector<beta_power> beta_powers(double beta1, double beta2) {
  return {{"beta1_power", beta1}, {"beta2_power", beta2}};
}

PINION_DECL scalar_value corrected_rate(slot_table& made, graph& g, std::string_view optimizer,
                                        const scalar_value& rate, std::span<const beta_power> powers,
                                        const std::vector<gradient_of_variable>& gradients) {
  const node_id first = first_by_name(g, gradients);
  std::vector<scalar_value> operands{rate};
  for (const auto& [name, beta] : powers) operands.emplace_back(shared_number(made, g, first, std::string(name), beta));
  const colocate_with near(operation(operands[1].expression()));
  return scalar_value(rate_node<rates::adam>(g, std::string(optimizer) + "/rate", operands));
}

PINION_DECL std::vector<operation> multiply_powers(const slot_table& made, graph& g, std::string_view optimizer,
                                                   std::span<const beta_power> powers,
                                                   const std::vector<operation>& updates) {
  std::vector<operation> all;
  for (const auto& [name, beta] : powers)
    all.push_back(change_number(made, g, optimizer, name, op::assign_multiply::name, {"beta", beta}, updates));
  return all;
}

PINION_DECL operation change_number(const slot_table& made, graph& g, std::string_view optimizer, std::string_view name,
                                    std::string_view op, const named_amount& by,
                                    const std::vector<operation>& updates) {
  const node_id number = made.find(g, no_node, name);
  const colocate_with near(operation(g, number));
  const std::string prefix = std::string(optimizer) + "/";
  node_request request{.op = op,
                       .base_name = prefix + std::string(name),
                       .inputs = {{number, 0}, constant(by.amount, prefix + std::string(by.name)).endpoint(g)}};
  for (const operation& u : updates) request.control_inputs.push_back(u.id(g));
  return build_write(g, std::move(request));
}

PINION_DECL gradient_value dense_gradient(graph& g, node_id variable, const gradient_value& gradient) {
  if (!gradient.is_sparse()) return gradient;
  const colocate_with near(operation(g, variable));
  return {autodiff::to_dense(g, gradient, {variable_of(g, variable).read_id(g), 0}), {}, {}};
}

PINION_DECL bool says_of(const std::function<bool(std::string_view)>& function, graph& g, node_id variable) {
  if (!function) return true;
  const variable_slice* const part = slice_of(g, variable);
  return function(part ? part->whole : g[variable].name);
}

PINION_DECL any_expr rate_of_variable(graph& g, node_id variable, const scalar_value& rate) {
  const dtype type = g[variable].outputs[0].dtype;
  if (!rate.is_number()) {  // shared by variables on several devices, it stands with none of them
    const colocate_with none{nullptr};
    const colocate_with near(operation(rate.expression()));
    return as_dtype(rate.expression(), type, rate.expression().node().where);
  }
  const colocate_with near(operation(g, variable));
  const std::string name = g[variable].name + "/rate";
  if (type == dtype::float64) return constant(rate.number(), name);
  return constant(static_cast<float>(rate.number()), name);
}

}}}}  // namespace pinion::v0::train::detail
