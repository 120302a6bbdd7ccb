// Bodies of <pinion/train/optimizers/optimizer.hpp>.
#pragma once

#include <map>
#include <utility>

#include <pinion/autodiff/gradients.hpp>
#include <pinion/graph/called_from.hpp>
#include <pinion/graph/scopes.hpp>
#include <pinion/train/formula.hpp>
#include <pinion/train/optimizers/conditional_writes.hpp>
#include <pinion/train/optimizers/optimizer.hpp>

namespace pinion { inline namespace v0 { namespace train { namespace detail {

// The rate in the form that the updates of one apply_gradients want: a number, or an expression of the variable's
// dtype. The cast to each dtype is made once.
class shared_rate {
 public:
  shared_rate(const graph& g, scalar_value rate);
  scalar_value of(dtype type);

 private:
  scalar_value rate_;
  std::map<dtype, any_expr> of_type_;
};

inline shared_rate::shared_rate(const graph& g, scalar_value rate) : rate_(std::move(rate)) {
  if (!rate_.is_number()) rate_.expression().id(g, "the variables whose learning rate it is");
}

inline scalar_value shared_rate::of(dtype type) {
  if (rate_.is_number()) return rate_;
  auto& known = of_type_[type];
  if (known.empty()) {
    const colocate_with near(operation(rate_.expression()));
    known = as_dtype(rate_.expression(), type, rate_.expression().node().where);
  }
  return scalar_value(known);
}

// Throws invalid_argument unless the node is a floating-point variable of the graph.
inline void check_variable(graph_view g, node_id variable) {
  if (!g.contains(variable) || g[variable].op != op::variable::name)
    throw error(errc::invalid_argument,
                "apply_gradients: a gradient is given for what is no variable of the default graph");
  const node& v = g[variable];
  if (!is_floating(v.outputs[0].dtype))
    throw error(errc::invalid_argument, "variable '" + v.name + "' is " + std::string(to_string(v.outputs[0].dtype)) +
                                            "; only floating-point variables are trained")
        .at_node(v.name, v.op, to_string(v.where));
}

PINION_DECL std::vector<gradient_of_variable> gradients_of(graph& g, output loss, const std::string& name,
                                                           const std::vector<operation>& variables) {
  std::vector<node_id> ids;
  for (const operation& v : variables) ids.push_back(v.id(g, "the loss's"));
  if (variables.empty()) ids = g.collection("trainable_variables");
  if (ids.empty()) throw error(errc::invalid_argument, "minimize: the graph has no trainable variables");
  std::vector<output> ends;
  for (const node_id v : ids) ends.push_back({v, 0});
  const auto found = autodiff::differentiate(g, {loss}, ends);
  std::vector<gradient_of_variable> result;
  for (std::size_t i = 0; i < ids.size(); ++i)
    if (found[i]) result.push_back({*found[i], ids[i], g});
  if (result.empty()) throw error(errc::invalid_argument, "minimize: '" + name + "' depends on no trainable variable");
  return result;
}

PINION_DECL std::vector<gradient_of_variable> checked_gradients(graph& g,
                                                                const std::vector<gradient_of_variable>& gradients) {
  std::vector<gradient_of_variable> given;
  for (const gradient_of_variable& one : gradients) {
    if (one.empty()) continue;
    one.expect_in(g);
    check_variable(g, one.variable);
    given.push_back(one);
  }
  if (given.empty()) throw error(errc::invalid_argument, "apply_gradients was given no gradients");
  return given;
}

inline std::vector<operation> apply_all(const update_maker& by, graph& g,
                                        const std::vector<gradient_of_variable>& gradients) {
  shared_rate rate(g, by.rate(g, gradients));
  std::vector<operation> made;
  for (const gradient_of_variable& one : gradients)
    made.push_back(by.apply_one(g, one.variable, one.gradient, rate.of(g[one.variable].outputs[0].dtype)));
  for (const operation& last : by.finish(g, made)) made.push_back(last);
  return made;
}

PINION_DECL operation apply(const update_maker& by, std::string_view name,
                            const std::vector<gradient_of_variable>& gradients, const minimize_options& options,
                            source_location where) {
  const called_from line(where);
  graph& g = graph_of_step(options);
  return run_and_count(g, apply_all(by, g, checked_gradients(g, gradients)), name, options, where);
}

PINION_DECL graph& graph_of_step(const minimize_options& options) {
  return options.global_step.empty() ? default_graph() : options.global_step.owner();
}

PINION_DECL operation run_and_count(graph& g, const std::vector<operation>& updates, std::string_view name,
                                    const minimize_options& options, source_location where) {
  node_request all{
      .op = op::no_op::name, .base_name = options.name.empty() ? std::string(name) : options.name, .where = where};
  for (const operation& made : updates) all.control_inputs.push_back(made.id(g));
  if (options.global_step.empty()) return {g, build(g, std::move(all))};
  const in_graph use(g);
  const colocate_with near(operation(options.global_step));  // the count waits for no task that has no variables
  const control_dependencies after{operation(g, build(g, std::move(all)))};
  if (const expr<bool>* const writes = writes_only_if::current())
    return assign_add(options.global_step, expr<std::int64_t>(cast<std::int64_t>(*writes)), where);
  return assign_add(options.global_step, std::int64_t{1}, where);
}

PINION_DECL update_request request_update(graph& g, const update_ops& ops, std::span<const node_id> states,
                                          const gradient_value& gradient, std::span<const scalar_value> rates,
                                          bool rate_varies) {
  const node& variable = g[states[0]];
  const std::string_view op = gradient.is_sparse() ? ops.sparse : ops.dense;
  const bool is_number = rates[0].is_number();
  if (is_number && rate_varies) throw error(errc::internal, "the rate of " + std::string(op) + " is never a number");
  update_request request{.node = {.op = op, .base_name = variable.name + "/" + std::string(op)},
                         .type = variable.outputs[0].dtype,
                         .rate = is_number ? op::rate_is::literal : op::rate_is::input};
  auto& inputs = request.node.inputs;
  for (const node_id s : states) inputs.push_back({s, 0});
  if (gradient.is_sparse()) inputs.push_back(gradient.indices);
  inputs.push_back(gradient.is_sparse() ? gradient.rows : gradient.dense);
  for (const scalar_value& rate : rates)
    if (!is_number) inputs.push_back(rate.expression().endpoint(g));
  return request;
}

PINION_DECL operation make_update(graph& g, update_request request, op::shared_program program, std::int64_t states) {
  request.node.attrs.set("program", std::move(program));
  request.node.attrs.set("states", states);
  return build_write(g, std::move(request.node));
}

PINION_DECL void refuse_slot(std::string_view optimizer, std::string_view slot, const std::string& variable,
                             std::span<const std::string_view> slots) {
  std::string sentence =
      std::string(optimizer) + " keeps no '" + std::string(slot) + "' of '" + variable + "'; its slots are";
  for (const std::string_view s : slots) sentence += " '" + std::string(s) + "'";
  throw error(errc::not_found, sentence + (slots.empty() ? " none" : ", of the variables it was applied to"));
}

PINION_DECL in_graph::in_graph(graph& g) {
  if (&g != &default_graph()) use_ = std::make_shared<default_scope>(g);
}
PINION_DECL in_graph::~in_graph() = default;

}}}}  // namespace pinion::v0::train::detail
