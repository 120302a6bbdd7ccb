// What optimizers share: gradients of a loss by variables, applied by one update node each.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <pinion/autodiff/gradients.hpp>
#include <pinion/dsl/sources.hpp>
#include <pinion/train/update_rule.hpp>

namespace pinion::inline v0::train {

// A variable and the gradient of the loss by it.
struct gradient_of_variable {
  gradient_value gradient;
  node_id variable = no_node;
};

struct minimize_options {
  variable_handle<std::int64_t> global_step = {};  // counted up once the variables are updated
  std::vector<operation> variables = {};           // empty: all trainable ones of the graph
  std::string name = {};
};

namespace detail {

// A slot: a variable of the same shape beside another, kept from step to step.
inline node_id make_slot(graph& g, node_id variable, const std::string& optimizer) {
  const node v = g[variable];
  if (!v.outputs[0].shape.known())
    throw error(errc::invalid_argument, "variable '" + v.name + "' has the shape " + to_string(v.outputs[0].shape) +
                                            "; an optimizer needs a known one for its slots")
        .at_node(v.name, v.op, to_string(v.where));
  const colocate_with near(operation(g, variable));
  const std::string name = g.unique_name(v.name + "/" + optimizer);
  return visit_plain(v.outputs[0].dtype, [&]<class T>() {
    if constexpr (std::is_floating_point_v<T>) {
      auto request = dsl::constant_request(tensor<T>(v.outputs[0].shape).untyped(), "", v.where);
      request.exact_name = name + "/initial_value";
      const node_id zero = build(g, std::move(request));
      return dsl::make_variable<T>({zero, 0}, name, {.trainable = false}, v.where).id();
    } else {
      throw error(errc::invalid_argument, "variable '" + v.name + "' is " + std::string(to_string(v.outputs[0].dtype)) +
                                              "; only floating-point variables are trained");
      return no_node;
    }
  });
}

// The ops of a rule: for a dense gradient, and for some rows.
struct update_ops {
  std::string_view dense, sparse;
};

// A node that updates a variable and its slots by a rule; by a sparse gradient the rows that it has alone.
template <class Rule>
operation make_update(graph& g, const update_ops& ops, const std::array<node_id, Rule::states>& states,
                      const gradient_value& gradient, const std::array<double, Rule::numbers>& numbers) {
  (void)scalar::compile_program<compiled_rule<Rule, float>>::kernel;
  (void)scalar::compile_program<compiled_rule<Rule, double>>::kernel;
  const node& variable = g[states[0]];
  const std::string_view op = gradient.is_sparse() ? ops.sparse : ops.dense;
  node_request request{.op = op, .base_name = variable.name + "/" + std::string(op), .where = variable.where};
  for (node_id s : states) request.inputs.push_back({s, 0});
  if (gradient.is_sparse()) request.inputs.push_back(gradient.indices);
  request.inputs.push_back(gradient.is_sparse() ? gradient.rows : gradient.dense);
  auto program = rule_program<Rule>(variable.outputs[0].dtype, numbers);
  request.attrs.set("program", op::shared_program(std::make_shared<const scalar::program>(std::move(program))));
  request.attrs.set("states", std::int64_t{Rule::states});
  return {g, build(g, std::move(request))};
}

}  // namespace detail

// An optimizer is a type with apply_one(graph, variable, gradient): this gives it the rest of its interface. A sparse
// gradient, that of a gather, updates the rows that it names alone, of the variable and of its slots.
template <class Self>
class optimizer {
 public:
  // Gradients by the given variables, or by all trainable ones that the loss depends on.
  template <dsl::graph_operand L>
  std::vector<gradient_of_variable> compute_gradients(const L& loss,
                                                      const std::vector<operation>& variables = {}) const {
    graph& g = loss.owner();
    std::vector<node_id> ids;
    for (const operation& v : variables) ids.push_back(v.id());
    if (variables.empty()) ids = g.collection("trainable_variables");
    if (ids.empty()) throw error(errc::invalid_argument, "minimize: the graph has no trainable variables");
    std::vector<output> ends;
    for (node_id v : ids) ends.push_back({v, 0});
    const auto found = autodiff::differentiate(g, {dsl::endpoint_of(loss).endpoint()}, ends);
    std::vector<gradient_of_variable> result;
    for (std::size_t i = 0; i < ids.size(); ++i)
      if (found[i]) result.push_back({*found[i], ids[i]});
    if (result.empty())
      throw error(errc::invalid_argument, "minimize: '" + loss.name() + "' depends on no trainable variable");
    return result;
  }

  // One operation that updates every variable, and then counts the step.
  operation apply_gradients(const std::vector<gradient_of_variable>& gradients, const minimize_options& options = {},
                            source_location where = source_location::current()) const {
    if (gradients.empty()) throw error(errc::invalid_argument, "apply_gradients was given no gradients");
    graph& g = options.global_step.empty() ? default_graph() : options.global_step.owner();
    node_request all{.op = op::no_op::name,
                     .base_name = options.name.empty() ? std::string(Self::name) : options.name,
                     .where = where};
    for (const auto& [gradient, variable] : gradients) {
      all.control_inputs.push_back(static_cast<const Self&>(*this).apply_one(g, variable, gradient).id());
    }
    if (options.global_step.empty()) return {g, build(g, std::move(all))};
    const operation updates(g, build(g, std::move(all)));
    const control_dependencies after{updates};
    return assign_add(options.global_step, std::int64_t{1}, where);
  }

  // Both at once.
  template <dsl::graph_operand L>
  operation minimize(const L& loss, const minimize_options& options = {},
                     source_location where = source_location::current()) const {
    std::optional<default_scope> use;  // the scopes that are open hold, where they are of the loss's graph
    if (&loss.owner() != &default_graph()) use.emplace(loss.owner());
    return apply_gradients(compute_gradients(loss, options.variables), options, where);
  }
};

}  // namespace pinion::inline v0::train
