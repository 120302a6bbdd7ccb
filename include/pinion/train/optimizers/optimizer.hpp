// What optimizers share: gradients of a loss by variables, applied by one update node each.
#pragma once

#include <array>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/op/source/spelling.hpp>
#include <pinion/op/variable/rule.hpp>
#include <pinion/op/variable/rules.hpp>
#include <pinion/op/variable/spelling.hpp>
#include <pinion/train/handle.hpp>
#include <pinion/train/optimizers/gradient_of_variable.hpp>
#include <pinion/train/optimizers/slots.hpp>
#include <pinion/train/scalar_value.hpp>

namespace pinion { inline namespace v0 { namespace train {

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

// Gradients of a loss by the given variables, or by all trainable ones of its graph.
std::vector<gradient_of_variable> gradients_of(graph& g, output loss, const std::string& name,
                                               const std::vector<operation>& variables);

// An optimizer, as the functions below ask it: whichever it is.
class update_maker {
 public:
  virtual ~update_maker() = default;
  virtual scalar_value rate(graph& g, const std::vector<gradient_of_variable>& gradients) const = 0;
  virtual operation apply_one(graph& g, node_id variable, const gradient_value& gradient,
                              const scalar_value& rate) const = 0;
  virtual std::vector<operation> finish(graph& g, const std::vector<operation>& updates) const = 0;
};
operation apply(const update_maker& by, std::string_view name, const std::vector<gradient_of_variable>& gradients,
                const minimize_options& options, source_location where);

// The node of an update, but for its program.
struct update_request {
  node_request node;
  dtype type = dtype::invalid;
  op::rate_is rate = op::rate_is::input;
};
update_request request_update(graph& g, const update_ops& ops, std::span<const node_id> states,
                              const gradient_value& gradient, const scalar_value& rate, bool rate_varies);
operation make_update(graph& g, update_request request, op::shared_program program, std::int64_t states);

[[noreturn]] void refuse_slot(std::string_view optimizer, std::string_view slot, const std::string& variable,
                              std::span<const std::string_view> slots);

// While it lives, nodes are made in that graph.
class in_graph {
 public:
  explicit in_graph(graph& g);
  in_graph(const in_graph&) = delete;
  ~in_graph();

 private:
  std::shared_ptr<default_scope> use_;  // none where it is the default graph already: its open scopes hold
};

// Both steps of an optimizer, in the graph of the loss: the scopes that are open hold, where they are of that graph.
template <class Optimizer, dsl::graph_operand L>
operation minimize_by(Optimizer& optimizer, const L& loss, const minimize_options& options, source_location where) {
  const in_graph use(loss.owner());
  return optimizer.apply_gradients(optimizer.compute_gradients(loss, options.variables), options, where);
}

}  // namespace detail

// A node that updates a variable and its slots by a rule (op/variable/rule.hpp); by a sparse gradient the rows that it
// names alone. The first number may be an expression, of the variable's dtype; the others are numbers.
template <class Rule>
operation make_update(graph& g, const update_ops& ops, const std::array<node_id, Rule::states>& states,
                      const gradient_value& gradient, const std::array<scalar_value, Rule::numbers>& numbers) {
  if constexpr (!(detail::library_has_kernels && rules::is_of_library<Rule>)) op::instantiate_rule<Rule>();
  std::array<double, Rule::numbers> literals{};
  for (std::size_t i = 0; i < literals.size(); ++i) literals[i] = numbers[i].number();
  auto request = detail::request_update(g, ops, states, gradient, numbers[0], op::rate_varies<Rule>);
  auto program = detail::program_for<Rule>(request.type, literals, request.rate);
  return detail::make_update(g, std::move(request), std::move(program), Rule::states);
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
    return detail::gradients_of(loss.owner(), dsl::endpoint_of(loss).endpoint(), loss.name(), variables);
  }

  // One operation of the default graph that updates every variable, and then counts the step. Gradients that are empty
  // are passed over; invalid_argument where all are.
  operation apply_gradients(const std::vector<gradient_of_variable>& gradients, const minimize_options& options = {},
                            source_location where = source_location::current()) const {
    return detail::apply(maker(self()), Self::name, gradients, options, where);
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
    const node_id found = find_slot(*made_, variable.owner(), variable.id(), slot);
    if (found == no_node) detail::refuse_slot(Self::name, slot, variable.name(), Self::slots);
    return handle_of<T>(variable.owner(), found);
  }
  static constexpr auto slot_names() { return Self::slots; }

 protected:
  // The slot of a variable, made on first use: at first VALUE everywhere.
  node_id slot(graph& g, node_id variable, std::string_view slot_name, double value) const {
    return find_or_make_slot(*made_, g, variable, slot_name, std::string(Self::name), value);
  }
  slot_table& made() const { return *made_; }

 private:
  const Self& self() const { return static_cast<const Self&>(*this); }

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
