// The C++ operators on expressions: + - * / < <= > >= == != && || ! and unary minus. Operands broadcast; a scalar may
// stand on one side. Comparisons yield bool expressions, so == does not compare handles.
//
// The operands that compilers refuse, and the sentences that they print:
//
//   f + d, of float and double    the operands have different dtypes; pn::cast<T>(x) converts one of them
//   i * .5f, of an int i          a fraction beside an integer expression would be cut off; ...
//   b + b, of bools               this op computes numbers; pn::cast<float>(x) makes numbers of bools
//   b < b, of bools               no bool is less than another: <, <=, > and >= take numbers, == and != both
//   f && f                        &&, || and ! take bools
//   t == t, of text               texts are not compared; a dataset can do that before the graph
//   x + t, of a host tensor t     tensors are values on the host, and ops take expressions: ...
//
// There are no compound assignments: write h = h + x, which makes a new node and leaves the old one as it is.
#pragma once

#include <concepts>
#include <string_view>
#include <type_traits>
#include <utility>

#include <pinion/base/dtype.hpp>
#include <pinion/base/source_location.hpp>
#include <pinion/spec/place.hpp>

namespace pinion { inline namespace v0 {

namespace op {  // defined in op/elementwise/op.hpp
struct add;
struct subtract;
struct multiply;
struct divide;
struct less;
struct less_equal;
struct greater;
struct greater_equal;
struct equal;
struct not_equal;
struct logical_and;
struct logical_or;
struct logical_not;
struct negate;
}  // namespace op

namespace dsl {
// The program of an expression that its consumers cannot look into.
struct leaf {};
// The program of a leaf whose op is still known. place<> finds the op's kernels by it.
template <class Op>
struct made_by {};
}  // namespace dsl
// An expression of element type T; see dsl/expr.hpp.
template <class T, class Program = dsl::leaf, class Place = anywhere>
requires(detail::are_elements<T>(PINION_ELEMENT_TYPES)) class expr;
template <class T>
requires(detail::are_elements<T>(PINION_ELEMENT_TYPES)) class variable_handle;
template <class T>
requires(detail::are_elements<T>(PINION_ELEMENT_TYPES)) class partitioned_variable;

namespace dsl {

// The template arguments of an expression type.
template <class E>
struct expr_facts;
template <class T, class P, class L>
struct expr_facts<expr<T, P, L>> {
  using value = T;
  using program = P;
  using place = L;
};
// An expression: an instance of expr, by value or reference. It does not hold for variables, host tensors and numbers;
// `graph_operand` and `operand` add these.
template <class E>
concept expression = requires {
  typename expr_facts<std::remove_cvref_t<E>>::value;
};

template <class V>
inline constexpr bool is_variable_type = false;
template <class T>
inline constexpr bool is_variable_type<variable_handle<T>> = true;
template <class V>
inline constexpr bool is_partitioned_type = false;
template <class T>
inline constexpr bool is_partitioned_type<partitioned_variable<T>> = true;
template <class V>
concept partitioned = is_partitioned_type<std::remove_cvref_t<V>>;
// A variable, or a partitioned variable, by value or reference.
template <class V>
concept variable_like = is_variable_type<std::remove_cvref_t<V>> || partitioned<V>;

// The operands of an op: an expression or a variable; in a pair, the other one may be a scalar. A host tensor is none
// of them: wrap it in pn::constant, or feed it to a pn::placeholder. A scalar is converted to the dtype of the operand
// beside it and becomes part of that node; a fraction beside an integer expression does not compile. Two scalars make
// no node, since C++ computes them at once.
template <class A>
concept graph_operand = expression<A> || variable_like<A>;
template <class A>
concept scalar_operand = std::is_arithmetic_v<std::remove_cvref_t<A>> || std::same_as<std::remove_cvref_t<A>, half> ||
    std::same_as<std::remove_cvref_t<A>, bfloat16>;
template <class A>
concept operand = graph_operand<A> || scalar_operand<A>;
template <class A, class B>
concept operand_pair = operand<A> && operand<B> &&(graph_operand<A> || graph_operand<B>);

// These make the nodes; op/elementwise/map.hpp defines them.
template <class Op, class... A>
auto map_same(std::string_view name, source_location where, A&&... operands);
template <class Op, class... A>
auto map_compare(std::string_view name, source_location where, A&&... operands);
template <class Op, class A, class... B>
auto map_logic(std::string_view name, source_location where, A&& a, B&&... b);

// The operators are hidden friends of one class that is no template. That compiles far faster than friends of every
// expression type. The rules that hold for all of them:
//
//   dtypes       both operands have one dtype, which arithmetic keeps; the compiler refuses others, and says cast
//   shapes       broadcast by NumPy's rule; a clash that is known throws invalid_argument, any other fails the step
//   integers     wrap around; a division by 0 yields 0; a quotient is cut off towards zero
//   fusion       a temporary operand joins the node of the operator, so a * b + c is one node
//   names        a node is named after its op ("mul", "add"); functions such as pn::add take a name
//   gradients    flow through arithmetic of float and double, and not through comparisons and logic
//
// Both sides of && and || are computed, unlike those of C++'s bool; pn::cond computes one branch only.
//
//   auto loss = pn::reduce_mean((y - target) * (y - target));
//   auto inside = x > 0.f && x <= 1.f;                    // a bool expression with the shape of x
//   auto same = pn::reduce_all(x == y);                   // a scalar; `if (x == y)` does not compile
struct operators {
#define PINION_BINARY(symbol, kind, tag)                                  \
  template <class A, class B>                                             \
  requires operand_pair<A, B>                                             \
  friend auto operator symbol(A&& a, B&& b) {                             \
    return kind<op::tag>({}, {}, std::forward<A>(a), std::forward<B>(b)); \
  }
  // Numbers of every dtype; bool and text do not compile.
  PINION_BINARY(+, map_same, add)
  PINION_BINARY(-, map_same, subtract)
  PINION_BINARY(*, map_same, multiply)
  PINION_BINARY(/, map_same, divide)
  // Numbers of every dtype, and for == and != also two bools. NaN compares as in C++: only != holds.
  PINION_BINARY(<, map_compare, less)
  PINION_BINARY(<=, map_compare, less_equal)
  PINION_BINARY(>, map_compare, greater)
  PINION_BINARY(>=, map_compare, greater_equal)
  PINION_BINARY(==, map_compare, equal)
  PINION_BINARY(!=, map_compare, not_equal)
#undef PINION_BINARY
  // Bools alone; a literal true or false is no operand of these.
  template <graph_operand A, graph_operand B>
  friend auto operator&&(A&& a, B&& b) {
    return map_logic<op::logical_and>({}, {}, std::forward<A>(a), std::forward<B>(b));
  }
  template <graph_operand A, graph_operand B>
  friend auto operator||(A&& a, B&& b) {
    return map_logic<op::logical_or>({}, {}, std::forward<A>(a), std::forward<B>(b));
  }
  template <graph_operand A>
  friend auto operator!(A&& a) {
    return map_logic<op::logical_not>({}, {}, std::forward<A>(a));
  }
  template <graph_operand A>
  friend auto operator-(A&& a) {
    return map_same<op::negate>({}, {}, std::forward<A>(a));
  }
};

}  // namespace dsl
}}  // namespace pinion::v0
