// The part that all optimizers share: it computes gradients of a loss by variables, and applies them with one update
// node for each variable.
//
//   tr::momentum o{{.learning_rate = .01f, .momentum = .9}};
//   auto train = o.minimize(loss, {.global_step = step});
//   auto gradients = o.compute_gradients(loss);                       // or in two calls, to change them in between
//   auto clipped = o.apply_gradients(tr::clip_by_norm(gradients, 5), {.global_step = step});
//
// The nodes that minimize() makes for a variable W and momentum: the gradient by W; the slot variable W/Momentum; the
// update W/ApplyMomentum, or W/SparseApplyMomentum for a sparse gradient, on the device of W; an operation "Momentum"
// that runs all updates; and behind it the addition to the global step. An update is atomic for each variable.
//
// Each optimizer is a rule that updates every element of a variable and of its slots by the element of its gradient:
//
//   gradient_descent   w -= rate g                                                  no slots
//   momentum           w -= rate a, a accumulates g                                 "momentum"
//   adagrad            w -= rate g / sqrt(a), a accumulates g^2                     "accumulator"
//   rmsprop            the step is divided by a moving root mean square of g        "rms", "mg", "momentum"
//   adam               moving means of g and g^2, both corrected for their start    "m", "v"
//   adamw              adam, and w shrinks by itself                                "m", "v"
//   lion               w moves by the sign of a moving mean of g                    "momentum"
//
// Others look at more than one element:
//
//   lamb               adamw, with steps as long as the norm of w asks for          "m", "v"
//   adafactor          g^2 of a matrix is kept as a row and a column                "r", "c", "v", "m"
//   muon               the step of a matrix is an orthogonal one                    "momentum"
//
// accumulate{optimizer, steps} lets an optimizer make one update by the gradients of several steps, mixed_precision
// computes products in 16 bits, and weight_averages keeps moving averages of what any optimizer trains.
#pragma once

#include <array>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/graph/scopes.hpp>
#include <pinion/nn/update_ops.hpp>
#include <pinion/op/elementwise/op.hpp>
#include <pinion/op/source/functions.hpp>
#include <pinion/op/variable/functions.hpp>
#include <pinion/op/variable/rule.hpp>
#include <pinion/op/variable/rules.hpp>
#include <pinion/train/handle.hpp>
#include <pinion/train/optimizers/gradient_of_variable.hpp>
#include <pinion/train/optimizers/slots.hpp>
#include <pinion/train/scalar_value.hpp>

namespace pinion { inline namespace v0 { namespace train {

// The options of minimize() and apply_gradients().
struct minimize_options {
  // This variable is incremented by 1 once all variables are updated; empty: none is.
  variable_handle<std::int64_t> global_step = {};
  // The variables to train; empty: all trainable variables of the loss's graph.
  std::vector<operation> variables = {};
  // minimize() runs the updates that belong to the loss, such as those of batch_norm's averages (nn/update_ops.hpp),
  // before it updates the variables.
  bool run_updates = true;
  // The global step counts steps that mixed_precision leaves out, too. sync_replicas asks for it, since its rounds are
  // told apart by the global step.
  bool count_every_step = false;
  // The name of the operation; empty: the name of the optimizer.
  std::string name = {};
};

// The names of a rule's two ops: one for a dense gradient, one for a sparse gradient.
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

// The program of a rule with its numbers, for the attribute of an update node.
template <class Rule>
op::shared_program program_for(dtype type, const std::array<double, Rule::numbers>& numbers, op::rate_is rate) {
  return std::make_shared<const scalar::program>(rate == op::rate_is::input
                                                     ? op::rule_program<Rule, op::rate_is::input>(type, numbers)
                                                     : op::rule_program<Rule, op::rate_is::literal>(type, numbers));
}

// Computes the gradients of a loss by the given variables, or by all trainable variables of its graph. Throws
// invalid_argument if there are none, or if the loss depends on none of them.
std::vector<gradient_of_variable> gradients_of(graph& g, output loss, const std::string& name,
                                               const std::vector<operation>& variables);

// The gradients that are not empty. Throws what apply_gradients throws of its gradients.
std::vector<gradient_of_variable> checked_gradients(graph& g, const std::vector<gradient_of_variable>& gradients);

// The members that apply() needs of an optimizer, whatever its type is.
class update_maker {
 public:
  virtual ~update_maker() = default;
  virtual scalar_value rate(graph& g, const std::vector<gradient_of_variable>& gradients) const = 0;
  virtual operation apply_one(graph& g, node_id variable, const gradient_value& gradient,
                              const scalar_value& rate) const = 0;
  virtual std::vector<operation> finish(graph& g, const std::vector<operation>& updates) const = 0;
};
// Makes the updates of all gradients, and the operation that runs them and counts the step.
operation apply(const update_maker& by, std::string_view name, const std::vector<gradient_of_variable>& gradients,
                const minimize_options& options, source_location where);
// The graph in which an optimizer applies gradients: that of the global step, or else the default one.
graph& graph_of_step(const minimize_options& options);
// Makes the operation, called `name` unless the options say otherwise, that runs the updates and then counts the step,
// if it is one in which writes are made (conditional_writes.hpp).
operation run_and_count(graph& g, const std::vector<operation>& updates, std::string_view name,
                        const minimize_options& options, source_location where);

// The request for an update node, complete but for its program.
struct update_request {
  node_request node;
  dtype type = dtype::invalid;
  op::rate_is rate = op::rate_is::input;
};
// Fills the inputs of an update node: the states, the gradient, and the rates if they are expressions.
update_request request_update(graph& g, const update_ops& ops, std::span<const node_id> states,
                              const gradient_value& gradient, std::span<const scalar_value> rates, bool rate_varies);
// Builds the update node.
operation make_update(graph& g, update_request request, op::shared_program program, std::int64_t states);

// Throws not_found: an optimizer has no such slot, or has not been applied to that variable.
[[noreturn]] void refuse_slot(std::string_view optimizer, std::string_view slot, const std::string& variable,
                              std::span<const std::string_view> slots);

// Makes a graph the default one while it lives.
class in_graph {
 public:
  // Opens a scope, unless the graph is the default one.
  explicit in_graph(graph& g);
  in_graph(const in_graph&) = delete;
  ~in_graph();

 private:
  std::shared_ptr<default_scope> use_;  // empty if the graph is the default one already, whose open scopes then hold
};

// Runs both steps of an optimizer in the graph of the loss. Scopes that are open in that graph hold for the new nodes.
template <class Optimizer, dsl::graph_operand L>
operation minimize_by(Optimizer& optimizer, const L& loss, const minimize_options& options, source_location where) {
  graph& g = loss.owner();
  const in_graph use(g);
  const auto gradients = optimizer.compute_gradients(loss, options.variables);
  const operation updates =
      options.run_updates ? nn::updates_of(g, dsl::endpoint_of(loss).endpoint(g), where) : operation();
  if (updates.empty()) return optimizer.apply_gradients(gradients, options, where);
  const control_dependencies after{updates};
  return optimizer.apply_gradients(gradients, options, where);
}

}  // namespace detail

// Builds a node that updates a variable and its slots by a rule (op/variable/rule.hpp); with a sparse gradient it
// updates only the rows that the gradient names. `states` are the variable and its slots. The first number, the rate,
// may be an expression of the variable's dtype; the others are plain numbers. The rates of a rule that has several are
// all numbers or all expressions. Throws internal if a rule whose rate always varies is given a number.
template <class Rule>
operation make_update(graph& g, const update_ops& ops, const std::array<node_id, Rule::states>& states,
                      const gradient_value& gradient, const std::array<scalar_value, Rule::numbers>& numbers) {
  op::instantiate_rule<Rule, detail::library_has_kernels && rules::is_of_library<Rule>>();
  std::array<double, Rule::numbers> literals{};
  for (std::size_t i = 0; i < literals.size(); ++i) literals[i] = numbers[i].number();
  const auto rates = std::span(numbers).first(op::rates_of<Rule>());
  auto request = detail::request_update(g, ops, states, gradient, rates, op::rate_varies<Rule>);
  auto program = detail::program_for<Rule>(request.type, literals, request.rate);
  return detail::make_update(g, std::move(request), std::move(program), Rule::states);
}

// The base of every optimizer, which derives from it as `class mine : public optimizer<mine>` and brings these members:
//
//   static constexpr std::string_view name = "Momentum";                       // names its slots and its node
//   static constexpr std::array<std::string_view, 1> slots = {"momentum"};
//   scalar_value rate(graph&, const std::vector<gradient_of_variable>&) const; // once for each apply_gradients
//   operation apply_one(graph&, node_id variable, const gradient_value&, const scalar_value& rate) const;
//   std::vector<operation> finish(graph&, const std::vector<operation>& updates) const;  // optional: runs after them
//
// rate() is given the gradients of one apply_gradients and returns a number or a scalar expression. apply_one() builds
// the update of one variable, mostly by make_update() with a rule and with slots from slot(). finish() builds
// operations that run when all updates are done, such as Adam's powers.
//
// An optimizer is a value, and its copies share their slots. Applied to a variable twice, an optimizer uses the same
// slots both times; another optimizer makes its own. Several threads may build graphs with one optimizer, under the
// same rules as without it. It refers to no graph; the slots that it remembers of a graph are forgotten with that
// graph.
template <class Self>
class optimizer {
 public:
  // The gradients of a loss by the given variables, or by all trainable variables of its graph. Variables that the loss
  // does not depend on are left out. Throws invalid_argument if there are no variables, or if the loss depends on
  // none.
  template <dsl::graph_operand L>
  std::vector<gradient_of_variable> compute_gradients(const L& loss,
                                                      const std::vector<operation>& variables = {}) const {
    graph& g = loss.owner();
    return detail::gradients_of(g, dsl::endpoint_of(loss).endpoint(g), loss.name(), variables);
  }

  // Builds one operation that updates every variable by its gradient and then counts the step. It belongs to the graph
  // of the global step, or else to the default graph. Empty gradients are passed over. Throws invalid_argument if
  // all are empty, if a gradient is given for something that is not a floating-point variable of that graph, and
  // if the rate belongs to another graph.
  operation apply_gradients(const std::vector<gradient_of_variable>& gradients, const minimize_options& options = {},
                            source_location where = source_location::current()) const {
    return detail::apply(maker(self()), Self::name, gradients, options, where);
  }

  // Calls compute_gradients and then apply_gradients, in the graph of the loss. Running the operation makes one step of
  // training; it yields no value.
  template <dsl::graph_operand L>
  operation minimize(const L& loss, const minimize_options& options = {},
                     source_location where = source_location::current()) const {
    return detail::minimize_by(*this, loss, options, where);
  }

  // The variable that holds a slot of a trained variable. It is a variable like others: it can be fetched, saved and
  // restored. Throws not_found if the optimizer has no slot of that name, or has not been applied to that variable.
  //
  //   pn::tensor<float> a = sess.run(o.get_slot(W, "momentum"));
  template <element T>
  variable_handle<T> get_slot(const variable_handle<T>& variable, std::string_view slot) const {
    graph& g = variable.owner();
    const node_id found = find_slot(*made_, g, variable.id(g), slot);
    if (found == no_node) detail::refuse_slot(Self::name, slot, variable.name(), Self::slots);
    return handle_of<T>(variable.owner(), found);
  }
  // The names of the slots.
  static constexpr auto slot_names() { return Self::slots; }

 protected:
  // The slot of a variable. The first call makes it; each of its elements begins as `value`.
  node_id slot(graph& g, node_id variable, std::string_view slot_name, double value) const {
    return find_or_make_slot(*made_, g, variable, slot_name, std::string(Self::name), value);
  }
  // The table of the slots, for an optimizer that keeps more than one slot a variable.
  slot_table& made() const { return *made_; }

 private:
  const Self& self() const { return static_cast<const Self&>(*this); }

  // This optimizer as apply() asks it.
  struct maker final : detail::update_maker {
    explicit maker(const Self& s) : self(s) {}
    scalar_value rate(graph& g, const std::vector<gradient_of_variable>& gradients) const override {
      return self.rate(g, gradients);
    }
    operation apply_one(graph& g, node_id variable, const gradient_value& gradient,
                        const scalar_value& rate) const override {
      return self.apply_one(g, variable, gradient, rate);
    }
    std::vector<operation> finish(graph& g, const std::vector<operation>& updates) const override {
      if constexpr (requires { self.finish(g, updates); })
        return self.finish(g, updates);
      else
        return {};
    }
    const Self& self;
  };

  std::shared_ptr<slot_table> made_ = make_slot_table();
};

}}}  // namespace pinion::v0::train

#if PINION_HEADER_ONLY
#include <pinion/train/optimizers/optimizer.ipp>
#endif
