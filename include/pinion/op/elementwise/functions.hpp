// Elementwise functions on expressions: arithmetic, comparisons, activations, select, cast, and scalar functions that a
// user writes. `dsl/operators.hpp` has the same arithmetic as C++ operators.
//
//   auto y = pn::maximum(pn::exp(x), 0.5f);   // one node: the temporary exp(x) is absorbed by its consumer
//
// Every function here throws invalid_argument where the shapes of its operands do not broadcast, and where an operand
// is empty or belongs to another graph.
//
// An operand that is a temporary joins its consumer, and the whole expression becomes one node that reads each input
// and writes the result once; no tensor is made in between. A stored expression does not join, nor does a temporary
// that has a name, another device request, another name scope or other control dependencies than its consumer. A node
// holds up to 32 operations on 12 inputs; a longer expression is cut into several.
//
//   auto y = pn::exp(a) * b + c;             // one node, "add"
//   auto e = pn::exp(a); auto z = e * b;     // two nodes, "Exp" and "mul": e is a node to fetch
#pragma once

#include <pinion/dsl/node_call.hpp>
#include <pinion/op/convert/op.hpp>
#include <pinion/op/elementwise/map.hpp>

namespace pinion { inline namespace v0 {

namespace dsl {

template <class T>
concept floating_value = std::is_floating_point_v<T>;

// Refuses operands that are not float or double. An integer or bool operand is told to be cast: "pn::cast<float>(x)
// converts".
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
// Powers and logarithms: e^x, ln x, ln(1 + x), sqrt(x), 1 / sqrt(x). Arguments outside a function's domain follow IEEE
// 754: log(0) is -infinity, and sqrt and log of a negative number are NaN. log1p keeps its digits for small x. The
// derivatives are e^x, 1 / x, 1 / (1 + x), 1 / (2 sqrt(x)), which is infinite at 0, and -x^(-3/2) / 2.
PINION_UNARY(exp, exp, PINION_FLOATING)
PINION_UNARY(log, log, PINION_FLOATING)
PINION_UNARY(log1p, log1p, PINION_FLOATING)
PINION_UNARY(sqrt, sqrt, PINION_FLOATING)
PINION_UNARY(rsqrt, rsqrt, PINION_FLOATING)
// The hyperbolic tangent, the error function and its complement, sine and cosine of radians. erf(x) is 2 / sqrt(pi)
// times the integral of e^(-t^2) from 0 to x, and erfc(x) is 1 - erf(x) without its loss of digits.
PINION_UNARY(tanh, tanh, PINION_FLOATING)
PINION_UNARY(erf, erf, PINION_FLOATING)
PINION_UNARY(erfc, erfc, PINION_FLOATING)
PINION_UNARY(sin, sin, PINION_FLOATING)
PINION_UNARY(cos, cos, PINION_FLOATING)
// The greatest whole number not above x, the least not below, and the nearest. round takes halves to the even
// neighbour: 2.5 to 2, as TensorFlow does and std::round does not. No gradient flows through these three.
PINION_UNARY(floor, floor, PINION_FLOATING)
PINION_UNARY(ceil, ceil, PINION_FLOATING)
PINION_UNARY(round, round, PINION_FLOATING)
// x x, |x|, the sign of x as -1, 0 or 1, and -x, of any number. Integers wrap around. The gradient of abs is sign(x),
// so 0 at 0; none flows through sign.
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
// softplus does not overflow for large x. elu has alpha = 1 (Clevert et al. 2015). At 0, relu and elu have the
// derivatives 0 and 1. relu takes integers as well, and NaN stays NaN in it.
//
//   auto h = pn::relu(pn::matmul(x, w) + b);           // the sum and relu are one node
//   auto y = pn::nn::dense(x, 10, pn::sigmoid);        // here it is an argument
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
// maximum, minimum and x^y, and the four operators as functions, which take a name. NaN on either side makes maximum
// and minimum NaN. Where both operands are equal the gradient goes to the first, so maximum(x, 0.f) has derivative 1 at
// 0; relu has 0. pow takes float and double, and throws invalid_argument for integers when its node is made; pow(x, 0)
// is 1, a negative x with a fractional y gives NaN. Its gradient by y is 0 where x <= 0.
//
// An integer divided by 0 is 0 and does not fail the step, and integers are divided towards zero. A float divided by 0
// is infinite or NaN. Sums and products of integers wrap around. A broadcast operand gets the gradient summed over the
// axes along which it was repeated.
//
//   auto n = pn::add(a, b, "total");                   // a node called "total", which a + b could not be
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
// Operands are numbers, or both are bool; text is refused by the compiler. NaN differs from every number, itself
// included. No gradient flows through a comparison.
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
// A user's scalar function. Its `apply` takes symbolic values: it is a template of its operands, without branches on
// them.
template <class Functor>
concept scalar_functor = requires {
  { Functor::arity } -> std::convertible_to<int>;
};
template <class F, class... A>
auto map_own(std::string_view name, source_location where, A&&... operands) {
  static_assert(F::arity == sizeof...(A), "the function takes another number of operands: see its arity");
  static_assert(F::arity <= 2, "a function of one's own takes one or two operands");
  using T = common_value<A...>;
  static_assert(floating_value<T>,
                "a function of one's own is computed on floating-point expressions; pn::cast<float>(x) converts");
  return map_same<own_map<F>>(name, where, std::forward<A>(operands)...);
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
// (scalar/functors.hpp gives the reason). Operands are float or double. No kernel has to be written for it, and no
// server has to know it: the node carries the program, op "Map". A functor of two operands broadcasts them, and one of
// them may be a number.
//
//   struct distance {
//     static constexpr int arity = 2;
//     template <class V, class W>
//     static constexpr auto apply(V x, W y) { return abs(x - y); }
//   };
//   auto d = pn::map<distance>(a, b);
template <dsl::scalar_functor F, dsl::graph_operand A>
auto map(A&& x, source_location where = source_location::current()) {
  return dsl::map_own<F>({}, where, std::forward<A>(x));
}
template <dsl::scalar_functor F, class A, class B>
requires dsl::operand_pair<A, B>
auto map(A&& x, B&& y, source_location where = source_location::current()) {
  return dsl::map_own<F>({}, where, std::forward<A>(x), std::forward<B>(y));
}

// Elements of a where the condition, a bool expression, holds, and elements of b elsewhere. All three broadcast; a and
// b have one dtype, which may also be bool or std::string. The gradient of an element goes to the operand that it was
// taken from, the other one gets 0, so that select(x > 0.f, pn::log(x), 0.f) is right as a value; its gradient is NaN
// at 0 all the same, because 0 times the infinite derivative of log is. Give log a safe argument there:
// pn::log(pn::maximum(x, 1e-6f)). TensorFlow: tf.where.
//
//   auto clipped = pn::select(x > 1.f, 1.f, x);          // one side may be a number
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
// another type ends a fused expression. A fraction is cut off towards zero, and true becomes 1. The gradient passes
// between float and double, cast back; none passes through an integer or a bool.
//
// This is also the way between stored elements, such as pn::half and std::int8_t, and those that ops compute with (op
// Convert; base/half.hpp has the roundings). There a number beyond the integers becomes the nearest one, and NaN 0, and
// a gradient that would have to pass is refused: a model whose weights come as halves keeps them in variables of float,
// which begin with the converted weights.
//
//   auto hits = pn::reduce_sum(pn::cast<float>(a == b)); // the number of equal elements
//   auto W = pn::variable(pn::cast<float>(pn::constant(weights)));      // weights: pn::tensor<pn::half>
template <element U, dsl::graph_operand A>
auto cast(A&& x, std::string_view name = {}, source_location where = source_location::current()) {
  using T = dsl::value_of<A>;
  static_assert(!std::is_same_v<T, std::string> && !std::is_same_v<U, std::string>, "text is not cast");
  if constexpr ((dtypes::stored | dtype_set{dtype::string}).has(dtype_of<T>) || dtypes::stored.has(dtype_of<U>))
    return dsl::node_call<op::convert, U>(name, where, {{"dtype", dtype_of<U>}}, std::forward<A>(x));
  else if constexpr (std::is_same_v<T, bool> && std::is_same_v<U, bool>)
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
