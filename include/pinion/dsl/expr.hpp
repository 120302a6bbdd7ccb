// Expressions: small handles of graph nodes, whose type says what they compute.
#pragma once

#include <string>
#include <type_traits>

#include <pinion/base/config.hpp>
#include <pinion/dsl/operators.hpp>
#include <pinion/dsl/trace.hpp>
#include <pinion/graph/operation.hpp>
#include <pinion/graph/scope_state.hpp>

namespace pinion { inline namespace v0 {

namespace op {
struct placeholder;  // defined in op/source/op.hpp
}

class any_expr;
class any_variable;

namespace dsl {
// The endpoint that an operand stands for, in the graph in use. Throws invalid_argument where it was never assigned, or
// is a temporary that another expression has absorbed.
any_expr endpoint_of(const any_expr& a, source_location where = {});
// Variables are read for it; defined in op/variable/variable.hpp.
any_expr endpoint_of(const any_variable& v, source_location where = {});
template <partitioned A>
any_expr endpoint_of(const A& a, source_location where = {});
// An expression that is known to be of type E.
template <expression E>
E as_typed(const any_expr& e);
}  // namespace dsl

// One output of a node, without its type. Refers to a graph that must outlive it.
class any_expr {
 public:
  any_expr() = default;
  any_expr(graph& g, output o) : graph_(g), output_(o) {}

  bool empty() const { return graph_.empty(); }
  graph& owner() const { return *graph_; }
  output endpoint() const { return output_; }
  node_id id() const { return output_.node; }
  const pinion::node& node() const;

  // Of a fused expression: the name and op of its outermost op. Asking fixes the name: see graph.
  std::string name() const;
  const std::string& op() const;
  const device_spec& requested_device() const;
  pinion::dtype dtype() const;
  // As far as it is known before the graph runs.
  const pinion::shape& shape() const;

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

template <expression E>
E as_typed(const any_expr& e) {
  return {e.owner(), e.endpoint()};
}

// Adds the graph in use of an operand to what an op was given so far: null, or the graph of the operands before. Throws
// invalid_argument where the operand is empty, or of another graph; names it and the line that made it.
void join_graph(graph*& all, const any_expr& a);
void join_graph(graph*& all, const any_variable& v);
template <partitioned A>
void join_graph(graph*& all, const A& a);
template <scalar_operand A>
void join_graph(graph*&, A) {}

// The graph that all operands belong to.
template <class... A>
graph& graph_of(const A&... operands) {
  graph* all = nullptr;
  (join_graph(all, operands), ...);
  return *all;
}

}  // namespace dsl
}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/dsl/expr.ipp>
#endif
