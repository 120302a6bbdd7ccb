// Elementwise functions on expressions: arithmetic, comparisons, activations, select, cast, and scalar functions that a
// user writes. `dsl/operators.hpp` has the same arithmetic as C++ operators.
//
//   auto y = pn::maximum(pn::exp(x), 0.5f);   // one node: the temporary exp(x) is absorbed by its consumer
//
// Every function here throws invalid_argument where the shapes of its operands do not broadcast, and where an operand
// is empty or belongs to another graph.
#pragma once

#include <pinion/dsl/node_call.hpp>
#include <pinion/op/elementwise/map.hpp>

namespace pinion { inline namespace v0 {

namespace dsl {

template <class T>
concept floating_value = std::is_floating_point_v<T>;

// Refuses operands that are not float or double.
template <class A>
constexpr void check_floating() {
  static_assert(floating_value<value_of<A>>,
                "this function is defined on floating-point expressions; "
                "pn::cast<float>(x) converts");
}

// The argument that a layer passes to a function of pinion given by name, as in dense(x, 160, pn::tanh). An overload
// set has no type to deduce; the overload that takes a layer_output is the one that function_by_name selects.
template <element T>
struct layer_output {
  const expr<T>& y;
};
template <element T>
using function_by_name = expr<T> (*)(layer_output<T>);

}  // namespace dsl

// Defines pinion::function as an object whose call operator forwards to dsl::function.
#define PINION_AS_OBJECT(function)                                                                                 \
  namespace dsl {                                                                                                  \
  struct function##_object {                                                                                       \
    template <graph_operand A>                                                                                     \
    auto operator()(A&& x, std::string_view name = {}, source_location where = source_location::current()) const { \
      return dsl::function(std::forward<A>(x), name, where);                                                       \
    }                                                                                                              \
  };                                                                                                               \
  }                                                                                                                \
  inline constexpr dsl::function##_object function{};

// Functions of one operand. The result has the operand's shape and dtype. The functions marked PINION_FLOATING take
// float and double; the others take any number. A `name` becomes the name of the node, and a named node is never
// absorbed into its consumer.
#define PINION_UNARY(function, tag, check)                                                               \
  template <dsl::graph_operand A>                                                                        \
  auto function(A&& x, std::string_view name = {}, source_location where = source_location::current()) { \
    check;                                                                                               \
    return dsl::map_same<op::tag>(name, where, std::forward<A>(x));                                      \
  }                                                                                                      \
  template <element T>                                                                                   \
  expr<T> function(dsl::layer_output<T> x) {                                                             \
    return function(x.y);                                                                                \
  }
#define PINION_FLOATING dsl::check_floating<A>()
// Powers and logarithms: e^x, ln x, ln(1 + x), sqrt(x), 1 / sqrt(x).
PINION_UNARY(exp, exp, PINION_FLOATING)
PINION_UNARY(log, log, PINION_FLOATING)
PINION_UNARY(log1p, log1p, PINION_FLOATING)
PINION_UNARY(sqrt, sqrt, PINION_FLOATING)
PINION_UNARY(rsqrt, rsqrt, PINION_FLOATING)
// The hyperbolic tangent, the error function and its complement, sine and cosine of radians.
PINION_UNARY(tanh, tanh, PINION_FLOATING)
PINION_UNARY(erf, erf, PINION_FLOATING)
PINION_UNARY(erfc, erfc, PINION_FLOATING)
PINION_UNARY(sin, sin, PINION_FLOATING)
PINION_UNARY(cos, cos, PINION_FLOATING)
// The greatest whole number not above x, the least not below, and the nearest.
PINION_UNARY(floor, floor, PINION_FLOATING)
PINION_UNARY(ceil, ceil, PINION_FLOATING)
PINION_UNARY(round, round, PINION_FLOATING)
// x x, |x|, the sign of x as -1, 0 or 1, and -x, of any number.
PINION_UNARY(square, square, )
PINION_UNARY(abs, absolute, )
PINION_UNARY(sign, sign, )
PINION_UNARY(negative, negate, )
#undef PINION_UNARY

// Activations are objects, so that a layer takes them as arguments: dense(x, 160, pn::relu). The call operator finds
// dsl::function by an unqualified call. tanh stays a function: a program with `using namespace pinion` would find an
// object of that name ambiguous with tanh of <cmath>. Its object is nn::tanh, and layers take either.
#define PINION_ACTIVATION(function, check)                                                               \
  namespace dsl {                                                                                        \
  template <graph_operand A>                                                                             \
  auto function(A&& x, std::string_view name = {}, source_location where = source_location::current()) { \
    check;                                                                                               \
    return map_same<op::function>(name, where, std::forward<A>(x));                                      \
  }                                                                                                      \
  }                                                                                                      \
  PINION_AS_OBJECT(function)
// sigmoid is 1 / (1 + e^-x), elu is x for x > 0 and e^x - 1 otherwise, softplus is ln(1 + e^x), relu is max(x, 0).
PINION_ACTIVATION(sigmoid, PINION_FLOATING)
PINION_ACTIVATION(elu, PINION_FLOATING)
PINION_ACTIVATION(softplus, PINION_FLOATING)
PINION_ACTIVATION(relu, )
#undef PINION_ACTIVATION
#undef PINION_FLOATING

// Functions of two operands, of which one may be a scalar. Both have one dtype, which is the result's, and broadcast by
// NumPy's rules: shapes are aligned at the last axis, and extents agree or one of them is 1.
#define PINION_BINARY(function, tag)                                                                            \
  template <class A, class B>                                                                                   \
  requires dsl::operand_pair<A, B>                                                                              \
  auto function(A&& x, B&& y, std::string_view name = {}, source_location where = source_location::current()) { \
    return dsl::map_same<op::tag>(name, where, std::forward<A>(x), std::forward<B>(y));                         \
  }
// maximum, minimum and x^y, and the four operators as functions, which take a name.
PINION_BINARY(maximum, maximum)
PINION_BINARY(minimum, minimum)
PINION_BINARY(pow, power)
PINION_BINARY(add, add)
PINION_BINARY(subtract, subtract)
PINION_BINARY(multiply, multiply)
PINION_BINARY(divide, divide)
#undef PINION_BINARY

// Comparisons of two operands, which broadcast as above. The result is a bool expression. The operators == and != do
// the same without a name.
#define PINION_COMPARISON(function, tag)                                                                        \
  template <class A, class B>                                                                                   \
  requires dsl::operand_pair<A, B>                                                                              \
  auto function(A&& x, B&& y, std::string_view name = {}, source_location where = source_location::current()) { \
    return dsl::map_compare<op::tag>(name, where, std::forward<A>(x), std::forward<B>(y));                      \
  }
PINION_COMPARISON(equal, equal)
PINION_COMPARISON(not_equal, not_equal)
#undef PINION_COMPARISON

namespace dsl {
// An op made from a user's functor. Its nodes have op Map and carry the functor's program as an attribute, so that a
// server runs them without knowing the functor.
template <class Functor>
struct own_map : op::custom_map {
  using functor = Functor;
  static constexpr std::string_view base_name = [] {
    if constexpr (requires { Functor::name; })
      return std::string_view(Functor::name);
    else
      return op::custom_map::name;
  }();
};
template <class Functor>
concept scalar_functor = requires {
  { Functor::arity } -> std::convertible_to<int>;
};
template <class F, class... A>
auto map_own(source_location where, A&&... operands) {
  static_assert(F::arity == sizeof...(A), "the function takes another number of operands: see its arity");
  static_assert(F::arity <= 2, "a function of one's own takes one or two operands");
  using T = common_value<A...>;
  static_assert(floating_value<T>,
                "a function of one's own is computed on floating-point expressions; pn::cast<float>(x) converts");
  return map_same<own_map<F>>({}, where, std::forward<A>(operands)...);
}
}  // namespace dsl

// A user's scalar function, applied to each element. It fuses, broadcasts and is differentiated like the library's own:
//
//   struct swish {
//     static constexpr int arity = 1;                          // or 2
//     static constexpr std::string_view name = "Swish";        // base name of its nodes; default: Map
//     template <class V>
//     static constexpr auto apply(V x) { return x / (1.0 + exp(-x)); }
//   };
//   auto y = pn::map<swish>(x);
//
// `apply` may use + - * / min max pow abs sign exp log sqrt tanh erf sin cos ..., comparisons and select(mask, a, b);
// scalar/symbol.hpp lists all of them. The derivative follows from these, unless `apply` states it by return
// with_derivative(y, x, dy_dx). At most one operand of an operator may be a computed value: name the other one first
// (scalar/functors.hpp gives the reason). Operands are float or double.
template <dsl::scalar_functor F, dsl::graph_operand A>
auto map(A&& x, source_location where = source_location::current()) {
  return dsl::map_own<F>(where, std::forward<A>(x));
}
template <dsl::scalar_functor F, class A, class B>
requires dsl::operand_pair<A, B>
auto map(A&& x, B&& y, source_location where = source_location::current()) {
  return dsl::map_own<F>(where, std::forward<A>(x), std::forward<B>(y));
}

// Elements of a where the condition, a bool expression, holds, and elements of b elsewhere. All three broadcast; a and
// b have one dtype, which may also be bool or std::string.
template <dsl::graph_operand C, class A, class B>
requires dsl::operand_pair<A, B>
auto select(C&& condition, A&& a, B&& b, std::string_view name = {},
            source_location where = source_location::current()) {
  static_assert(dsl::same_dtype<dsl::value_of<C>, bool>, "the condition of select is a bool expression");
  using T = dsl::common_value<A, B>;
  (dsl::check_operand<T, A>(), dsl::check_operand<T, B>());
  if constexpr (std::is_same_v<T, bool>)
    return dsl::map_masks<op::select_masks>(name, where, std::forward<C>(condition), std::forward<A>(a),
                                            std::forward<B>(b));
  else if constexpr (std::is_same_v<T, std::string>)
    return dsl::node_call<op::select_text, T>(name, where, {}, std::forward<C>(condition), std::forward<A>(a),
                                              std::forward<B>(b));
  else
    return dsl::map_call<op::select, T, T>(name, where, std::forward<C>(condition), std::forward<A>(a),
                                           std::forward<B>(b));
}

// Elements converted to U by C++'s rules; a conversion to bool yields `element != 0`. Text is not converted. A cast to
// another type ends a fused expression.
template <element U, dsl::graph_operand A>
auto cast(A&& x, std::string_view name = {}, source_location where = source_location::current()) {
  using T = dsl::value_of<A>;
  static_assert(!std::is_same_v<T, std::string> && !std::is_same_v<U, std::string>, "text is not cast");
  if constexpr (std::is_same_v<T, bool> && std::is_same_v<U, bool>)
    return dsl::map_logic<op::cast_mask>(name, where, std::forward<A>(x));
  else if constexpr (std::is_same_v<T, bool>)
    return dsl::map_call<op::cast_bool, U, U>(name, where, std::forward<A>(x));
  else if constexpr (std::is_same_v<U, bool>)
    return dsl::map_compare<op::not_equal>(name, where, std::forward<A>(x), T(0));
  else if constexpr (std::is_same_v<U, T>)
    return dsl::map_same<op::cast>(name, where, std::forward<A>(x));
  else
    return dsl::map_call<op::cast, T, U>(name, where, std::forward<A>(x));
}
template <class U, dsl::graph_operand A>
requires(!element<U>) PINION_REFUSED(PINION_ELEMENT_TYPES)
cast(A&&, std::string_view = {}) PINION_REFUSAL;

}}  // namespace pinion::v0
