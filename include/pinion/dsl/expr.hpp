// Expressions: small handles of graph nodes. The type of an expression says what it computes.
//
//   pn::expr<float> y = pn::exp(a) * b;   // stored, so it is a node; the temporary exp(a) is absorbed into it
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
// The output that an operand stands for, in the graph in use. Throws invalid_argument for an operand that was never
// assigned, and for a temporary that another expression has absorbed. In the body of a cond or while_loop, a value of a
// graph around the body becomes an argument of the body here.
any_expr endpoint_of(const any_expr& a, source_location where = {});
// A variable is read for it. Defined in op/variable/variable.hpp.
any_expr endpoint_of(const any_variable& v, source_location where = {});
template <partitioned A>
any_expr endpoint_of(const A& a, source_location where = {});
// Converts to E without a check. Requires: the expression has the element type of E.
template <expression E>
E as_typed(const any_expr& e);
}  // namespace dsl

// One output of a node, without its element type. A value; refers to a graph that must outlive it. Thread-compatible,
// as its graph is. It serves code that handles expressions of several dtypes in one list; as an operand of an op it
// needs its type, which expr<T> has. A copy names the same output. Equality is that of the elements, computed in the
// graph (==); endpoint(g) tells whether two handles of a graph name one output.
class any_expr {
 public:
  any_expr() = default;
  // Requires: the node of `o` is in `g`, and has such an output.
  any_expr(graph& g, output o) : graph_(g), output_(o) {}

  // True for an expression that was never assigned. owner(), and the functions that read the node, throw for it.
  bool empty() const { return graph_.empty(); }
  // The graph, and the output in it. Throw failed_precondition where the graph was destroyed. The reference is valid as
  // long as the graph lives.
  graph& owner() const { return *graph_; }
  // The output, and the number of its node, for use in `in`. Throw invalid_argument for an output of another graph than
  // `in`, which is that of `whose`, and what owner() throws.
  output endpoint(const graph& in, std::string_view whose = "what uses it") const {
    return {id(in, whose), output_.index};
  }
  node_id id(const graph& in, std::string_view whose = "what uses it") const {
    return graph_.number_in(in, output_.node, whose);
  }
  const pinion::node& node() const;

  // The name and op of the node; of a fused expression, those of its outermost op. Asking settles the node: its name
  // and device are fixed from then on (see graph/graph.hpp). The names of temporaries are chosen when the graph settles
  // them, and C++ may evaluate the operands of an expression in any order: rely on the names that you gave. A second
  // output of a node is called "NAME:1".
  std::string name() const;
  const std::string& op() const;
  // The device that guards asked for; empty fields are open to the placer. It is the request alone; session::plan tells
  // the device that a node will run on.
  const device_spec& requested_device() const;
  // It never changes, and an op's dtype is known when its node is made.
  pinion::dtype dtype() const;
  // The shape as far as it is known before the graph runs. The reference is valid until a node is added to the graph;
  // copy it to keep it. shape_of(x) has the extents of a step.
  const pinion::shape& shape() const;

  // The operation runs the node and yields no value: for control_dependencies, group and targets of a step.
  operator operation() const { return {*graph_, output_.node}; }

 private:
  graph_ref graph_;
  output output_;
};

// An expression of element type T. A value; refers to a graph that must outlive it. Thread-compatible, as its graph is.
// The default expr<T> is a leaf and can be stored; every expression of T converts to it. An expression that is passed
// on as a temporary may be fused into its consumer; a stored one is a node of its own. The use of an empty one throws
// invalid_argument. Program and Place are deduced, and differ from one expression to the next; in members, containers
// and signatures of functions write expr<float>, to which all convert:
//
//   std::vector<pn::expr<float>> layers;
//   pn::expr<float> gelu(const pn::expr<float>& x) { return x * .5f * (1.f + pn::erf(x * .70710678f)); }
//
// `auto` holds the full type, and is safe, because an expression refers to nodes and not to its operands. A named
// expression is an lvalue and is not absorbed: its node is computed once, whatever uses it has. std::move(x) as an
// operand allows that again; x is used up by it, and throws invalid_argument as a later operand.
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

// The concepts that the compiler quotes where it refuses an operand. True for a type of which an rvalue operand is a
// mistake: nothing could feed that placeholder, or initialise that variable.
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

// Refuses a variable or placeholder that is made as an operand. It is called with the deduced operand type, so A is an
// lvalue reference for a stored operand.
template <class A>
constexpr void check_stored() {
  static_assert(stored_before_use<A>,
                "a variable or placeholder made as an operand of an op could never be reached "
                "again: store it first, auto v = pn::variable(...)");
}

template <expression E>
E as_typed(const any_expr& e) {
  graph& g = e.owner();
  return {g, e.endpoint(g)};
}

// Adds the graph of operand `a` to the operands before it; `all` is their graph, or null before the first one. Throws
// invalid_argument where the operand is empty or belongs to another graph; the error names the operand and the line
// that made it.
void join_graph(graph*& all, const any_expr& a);
void join_graph(graph*& all, const any_variable& v);
template <partitioned A>
void join_graph(graph*& all, const A& a);
template <scalar_operand A>
void join_graph(graph*&, A) {}

// The graph of all operands. Throws invalid_argument where they belong to several. Requires: at least one operand is
// not a scalar.
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
