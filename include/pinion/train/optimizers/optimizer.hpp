// What optimizers share: gradients of a loss by variables, applied by one update node each.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <pinion/autodiff/gradients.hpp>
#include <pinion/base/config.hpp>
#include <pinion/dsl/sources.hpp>
#include <pinion/graph/called_from.hpp>
#include <pinion/graph/scopes.hpp>
#include <pinion/op/variable/rule.hpp>
#include <pinion/op/variable/rules.hpp>
#include <pinion/train/handle.hpp>
#include <pinion/train/optimizers/gradient_of_variable.hpp>
#include <pinion/train/optimizers/slots.hpp>
#include <pinion/train/scalar_value.hpp>

namespace pinion::inline v0::train {

struct minimize_options {
  variable_handle<std::int64_t> global_step = {};  // counted up once the variables are updated
  std::vector<operation> variables = {};           // empty: all trainable ones of the graph
  std::string name = {};
};

// The ops of a rule: for a dense gradient, and for some rows.
struct update_ops {
  std::string_view dense, sparse;
};
template <class Dense, class Sparse>
inline constexpr update_ops ops_of{Dense::name, Sparse::name};

namespace detail {

#if defined(PINION_COMPILED)
inline constexpr bool library_has_kernels = true;
#else
inline constexpr bool library_has_kernels = false;
#endif

template <class Rule>
op::shared_program program_for(dtype type, const std::array<double, Rule::numbers>& numbers, op::rate_is rate) {
  return std::make_shared<const scalar::program>(rate == op::rate_is::input
                                                     ? op::rule_program<Rule, op::rate_is::input>(type, numbers)
                                                     : op::rule_program<Rule, op::rate_is::literal>(type, numbers));
}

// A rate as the updates of one apply_gradients want it: a number, or an expression of the variable's dtype, made once.
class shared_rate {
 public:
  shared_rate(const graph& g, scalar_value rate);
  scalar_value of(dtype type);

 private:
  scalar_value rate_;
  std::map<dtype, any_expr> of_type_;
};

// Throws invalid_argument unless it is a floating-point variable of the graph.
void check_variable(const graph& g, node_id variable);

// Both steps of an optimizer, in the graph of the loss: the scopes that are open hold, where they are of that graph.
template <class Optimizer, dsl::graph_operand L>
operation minimize_by(Optimizer& optimizer, const L& loss, const minimize_options& options, source_location where) {
  std::optional<default_scope> use;
  if (&loss.owner() != &default_graph()) use.emplace(loss.owner());
  return optimizer.apply_gradients(optimizer.compute_gradients(loss, options.variables), options, where);
}

}  // namespace detail

// A node that updates a variable and its slots by a rule (op/variable/rule.hpp); by a sparse gradient the rows that it
// names alone. The first number may be an expression, of the variable's dtype; the others are numbers.
template <class Rule>
operation make_update(graph& g, const update_ops& ops, const std::array<node_id, Rule::states>& states,
                      const gradient_value& gradient, const std::array<scalar_value, Rule::numbers>& numbers) {
  if constexpr (!(detail::library_has_kernels && rules::is_of_library<Rule>)) op::instantiate_rule<Rule>();
  const node& variable = g[states[0]];
  const std::string_view op = gradient.is_sparse() ? ops.sparse : ops.dense;
  node_request request{.op = op, .base_name = variable.name + "/" + std::string(op)};
  for (node_id s : states) request.inputs.push_back({s, 0});
  if (gradient.is_sparse()) request.inputs.push_back(gradient.indices);
  request.inputs.push_back(gradient.is_sparse() ? gradient.rows : gradient.dense);
  auto rate = op::rate_is::input;
  if (!numbers[0].is_number())
    request.inputs.push_back(numbers[0].expression().endpoint());
  else if (op::rate_varies<Rule>)
    throw error(errc::internal, "the rate of " + std::string(op) + " is never a number");
  else
    rate = op::rate_is::literal;
  std::array<double, Rule::numbers> literals{};
  for (std::size_t i = 0; i < literals.size(); ++i) literals[i] = numbers[i].number();
  request.attrs.set("program", detail::program_for<Rule>(variable.outputs[0].dtype, literals, rate));
  request.attrs.set("states", std::int64_t{Rule::states});
  return {g, build(g, std::move(request))};
}

// What every optimizer has, by what it brings itself:
//
//   static constexpr std::string_view name = "Momentum";                       // of its slots and its node
//   static constexpr std::array<std::string_view, 1> slots = {"momentum"};
//   scalar_value rate(graph&, const std::vector<gradient_of_variable>&) const; // of one apply_gradients
//   operation apply_one(graph&, node_id variable, const gradient_value&, const scalar_value& rate) const;
//   std::vector<operation> finish(graph&, const std::vector<operation>& updates) const;  // what runs behind these; may
//   be left out
//
// A value; copies share their slots. An optimizer that is applied to a variable twice uses the same slots, another one
// has its own. Building graphs with one optimizer is as thread-safe as building them without.
template <class Self>
class optimizer {
 public:
  // Gradients by the given variables, or by all trainable ones; those that the loss does not depend on are left out.
  // Throws invalid_argument where it depends on none.
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

  // One operation of the default graph that updates every variable, and then counts the step. Gradients that are empty
  // are passed over; invalid_argument where all are.
  operation apply_gradients(const std::vector<gradient_of_variable>& gradients, const minimize_options& options = {},
                            source_location where = source_location::current()) const {
    const called_from line(where);
    graph& g = options.global_step.empty() ? default_graph() : options.global_step.owner();
    std::vector<gradient_of_variable> given;
    for (const auto& one : gradients) {
      if (one.empty()) continue;
      detail::check_variable(g, one.variable);
      given.push_back(one);
    }
    if (given.empty()) throw error(errc::invalid_argument, "apply_gradients was given no gradients");
    node_request all{.op = op::no_op::name,
                     .base_name = options.name.empty() ? std::string(Self::name) : options.name,
                     .where = where};
    for (const operation& made : apply_all(g, given)) all.control_inputs.push_back(made.id());
    if (options.global_step.empty()) return {g, build(g, std::move(all))};
    const operation updates(g, build(g, std::move(all)));
    const control_dependencies after{updates};
    return assign_add(options.global_step, std::int64_t{1}, where);
  }

  // Both at once.
  template <dsl::graph_operand L>
  operation minimize(const L& loss, const minimize_options& options = {},
                     source_location where = source_location::current()) const {
    return detail::minimize_by(*this, loss, options, where);
  }

  // What it keeps of a variable: get_slot(W, "momentum"). Throws not_found where it has no such slot, or has not been
  // applied to that variable.
  template <element T>
  variable_handle<T> get_slot(const variable_handle<T>& variable, std::string_view slot) const {
    const node_id found = made_->find(variable.owner(), variable.id(), slot);
    if (found != no_node) return handle_of<T>(variable.owner(), found);
    std::string sentence =
        std::string(Self::name) + " keeps no '" + std::string(slot) + "' of '" + variable.name() + "'; its slots are";
    for (std::string_view s : Self::slots) sentence += " '" + std::string(s) + "'";
    throw error(errc::not_found, sentence + (Self::slots.empty() ? " none" : ", of the variables it was applied to"));
  }
  static constexpr auto slot_names() { return Self::slots; }

 protected:
  // The slot of a variable, made on first use: at first VALUE everywhere.
  node_id slot(graph& g, node_id variable, std::string_view slot_name, double value) const {
    return made_->find_or_make(g, variable, slot_name,
                               [&] { return make_slot(g, variable, std::string(Self::name), value); });
  }
  slot_table& made() const { return *made_; }

 private:
  const Self& self() const { return static_cast<const Self&>(*this); }

  std::vector<operation> apply_all(graph& g, const std::vector<gradient_of_variable>& gradients) const {
    detail::shared_rate rate(g, self().rate(g, gradients));
    std::vector<operation> made;
    for (const auto& [gradient, variable] : gradients)
      made.push_back(self().apply_one(g, variable, gradient, rate.of(g[variable].outputs[0].dtype)));
    if constexpr (requires { self().finish(g, made); })
      for (const operation& last : self().finish(g, made)) made.push_back(last);
    return made;
  }

  std::shared_ptr<slot_table> made_ = std::make_shared<slot_table>();
};

}  // namespace pinion::inline v0::train

#if PINION_HEADER_ONLY
#include <pinion/train/optimizers/optimizer.ipp>
#endif
