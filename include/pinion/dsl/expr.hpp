// Expressions: small handles of graph nodes, whose type says what they compute.
#pragma once

#include <string>
#include <type_traits>

#include <pinion/base/config.hpp>
#include <pinion/dsl/operators.hpp>
#include <pinion/dsl/program.hpp>
#include <pinion/dsl/trace.hpp>
#include <pinion/graph/operation.hpp>
#include <pinion/graph/scope_state.hpp>
#include <pinion/op/source/op.hpp>

namespace pinion::inline v0 {

// One output of a node, without its type. Refers to a graph that must outlive it.
class any_expr {
 public:
  any_expr() = default;
  any_expr(graph& g, output o) : graph_(g), output_(o) {}

  bool empty() const { return graph_.empty(); }
  graph& owner() const { return *graph_; }
  output endpoint() const { return output_; }
  node_id id() const { return output_.node; }
  const pinion::node& node() const { return (*graph_)[output_.node]; }

  // Of a fused expression: the name and op of its outermost op. Asking fixes the name: see graph.
  std::string name() const { return output_name(node(), output_.index); }
  const std::string& op() const { return node().op; }
  const device_spec& requested_device() const { return node().requested; }
  pinion::dtype dtype() const { return graph_->type_of(output_).dtype; }
  // As far as it is known before the graph runs.
  const pinion::shape& shape() const { return graph_->type_of(output_).shape; }

  operator operation() const { return {*graph_, output_.node}; }

 private:
  graph_ref graph_;
  output output_;
};

// An expression of element type T. With the defaults, expr<T>, it is a leaf, and can be stored: every expression of T
// converts to it. An expression passed on as a temporary may be fused into its consumer; a stored one is a node of its
// own. A value; thread-compatible, as its graph is.
template <class T, class Program, class Place>
requires(detail::are_elements<T>(PINION_ELEMENT_TYPES)) class expr : public any_expr, public dsl::operators {
 public:
  using value_type = T;

  expr() = default;
  expr(graph& g, output o) : any_expr(g, o) {}
  template <class P, class L>
  requires(std::is_same_v<Program, dsl::leaf>&& std::is_same_v<Place, anywhere> && !std::is_same_v<expr<T, P, L>, expr>)
      expr(const expr<T, P, L>& other)
      : any_expr(other) {}
};

// A variable: the node that names it, its initialiser, and its read. A value; the state lives in the task that runs it.
template <class T>
requires(detail::are_elements<T>(PINION_ELEMENT_TYPES)) class variable_handle : public dsl::operators {
 public:
  using value_type = T;

  variable_handle() = default;
  variable_handle(graph& g, node_id variable, node_id assign, node_id read)
      : graph_(g), variable_(variable), assign_(assign), read_(read) {}

  bool empty() const { return graph_.empty(); }
  graph& owner() const { return *graph_; }
  node_id id() const { return variable_; }
  output reference() const { return {variable_, 0}; }
  const std::string& name() const { return (*graph_)[variable_].name; }
  const std::string& op() const { return (*graph_)[variable_].op; }
  const device_spec& requested_device() const { return (*graph_)[variable_].requested; }
  const pinion::shape& shape() const { return graph_->type_of(reference()).shape; }

  node_id read_id() const { return read_; }
  // Gives it its initial value, and yields it.
  operation initializer() const { return {*graph_, assign_}; }
  // The shared read; inside control_dependencies a read of its own, which sees their effects. In the body of a node
  // that control dependencies hold back, a read of its own before that node.
  expr<T> read(source_location where = source_location::current()) const {
    if (!scope_state::current().control) {
      dsl::body_trace* const t = dsl::body_trace::current();
      if (t && t->waits_outside()) return t->outside([&] { return read(where); });
      return {*graph_, {read_, 0}};
    }
    const dsl::endpoint variable = dsl::drawn_in(*graph_, reference());
    return {
        *variable.of,
        {build(*variable.of,
               {.op = op::identity::name, .base_name = name() + "/read", .inputs = {variable.what}, .where = where}),
         0}};
  }

  operator operation() const { return {*graph_, variable_}; }
  operator expr<T>() const { return read({}); }

 private:
  graph_ref graph_;
  node_id variable_ = no_node, assign_ = no_node, read_ = no_node;
};

namespace dsl {

template <class A>
using value_of = typename std::remove_cvref_t<A>::value_type;

// The sentences of what the compiler refuses.
template <class A>
inline constexpr bool made_as_operand = false;
template <class T, class L>
inline constexpr bool made_as_operand<expr<T, made_by<op::placeholder>, L>> = true;
template <class T>
inline constexpr bool made_as_operand<variable_handle<T>> = true;
template <class A>
concept stored_before_use = std::is_lvalue_reference_v<A> || !made_as_operand<std::remove_cvref_t<A>>;
template <class T, class U>
concept same_dtype = std::is_same_v<T, U>;

template <class A>
constexpr void check_stored() {
  static_assert(stored_before_use<A>,
                "a variable or placeholder made as an operand of an op could never be reached "
                "again: store it first, auto v = pn::variable(...)");
}

inline any_expr as_expr(const endpoint& e) {
  return {*e.of, e.what};
}

// The endpoint that an operand stands for, in the graph in use.
template <graph_operand A>
any_expr endpoint_of(const A& a, source_location where = {}) {
  if constexpr (variable_like<A>) {
    if (a.empty())
      throw error(errc::invalid_argument, "a variable_handle that was never assigned is used as an operand");
    const any_expr value = a.read(where);
    return as_expr(drawn_in(value.owner(), value.endpoint()));
  } else {
    if (a.empty()) throw error(errc::invalid_argument, "an expr that was never assigned is used as an operand");
    if (!a.owner().contains(a.id()))
      throw error(errc::invalid_argument,
                  "a temporary expression was used after it was moved into another one; name it first");
    return as_expr(drawn_in(a.owner(), a.endpoint()));
  }
}

// The node that an error names for an operand: of a variable cut into parts, the first of them.
template <graph_operand A>
operation culprit_of(const A& a) {
  if constexpr (partitioned<A>)
    return a.parts().front();
  else
    return a;
}

// Names the operand and the line that made it.
[[noreturn]] void refuse_other_graph(const operation& culprit);

// The graph that all operands belong to.
template <class... A>
graph& graph_of(const A&... operands) {
  graph* g = nullptr;
  const auto visit = [&](const auto& a) {
    if constexpr (graph_operand<decltype(a)>) {
      if (a.empty()) throw error(errc::invalid_argument, "an expression that was never assigned is used as an operand");
      graph* const here = graph_in_use(a.owner());
      if (g && g != here) refuse_other_graph(culprit_of(a));
      g = here;
    }
  };
  (visit(operands), ...);
  return *g;
}

}  // namespace dsl
}  // namespace pinion::inline v0

#if PINION_HEADER_ONLY
#include <pinion/dsl/expr.ipp>
#endif
