// Mathematical functions beside those of functions.hpp: of angles, hyperbolic ones and their inverses, powers and
// logarithms, remainders, and tests for what is no finite number.
//
//   auto angle = pn::atan2(y, x);
//   auto hour = pn::mod(pn::range(48), 24);               // integers, with the sign of the divisor
//   auto safe = pn::select(pn::is_finite(x), x, 0.f);
//
// Each fuses, broadcasts and is differentiated like the other elementwise functions. A node of them has op Map, is
// named after the function, and carries its program. They take float and double where nothing else is said. NaN stays
// NaN.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <pinion/base/error.hpp>
#include <pinion/op/elementwise/functions.hpp>
#include <pinion/op/source/functions.hpp>
#include <pinion/scalar/functors_of_maths.hpp>

namespace pinion { inline namespace v0 {

#define PINION_UNARY(function, functor_name)                                                             \
  template <dsl::graph_operand A>                                                                        \
  auto function(A&& x, std::string_view name = {}, source_location where = source_location::current()) { \
    dsl::check_floating<A>();                                                                            \
    return dsl::map_own<scalar::functor::functor_name>(name, where, std::forward<A>(x));                 \
  }                                                                                                      \
  template <element T>                                                                                   \
  expr<T> function(dsl::layer_output<T> x) {                                                             \
    return function(x.y);                                                                                \
  }
// The tangent of radians, and the angles of a sine, a cosine and a tangent: asin and atan between -pi / 2 and pi / 2,
// acos between 0 and pi. asin and acos of a number beyond 1 or -1 are NaN, and so is tan of infinity. The derivatives
// are 1 + tan(x)^2, 1 / sqrt(1 - x^2), which is infinite at 1 and -1, its negative, and 1 / (1 + x^2).
PINION_UNARY(tan, tangent)
PINION_UNARY(asin, arc_sine)
PINION_UNARY(acos, arc_cosine)
PINION_UNARY(atan, arc_tangent)
// Hyperbolic sine and cosine, which are each other's derivative, and the inverses of sinh, cosh and tanh. acosh is NaN
// below 1, and atanh infinite at 1 and -1 and NaN beyond. Their derivatives are 1 / sqrt(x^2 + 1), 1 / sqrt(x^2 - 1)
// and 1 / (1 - x^2).
PINION_UNARY(sinh, hyperbolic_sine)
PINION_UNARY(cosh, hyperbolic_cosine)
PINION_UNARY(asinh, inverse_hyperbolic_sine)
PINION_UNARY(acosh, inverse_hyperbolic_cosine)
PINION_UNARY(atanh, inverse_hyperbolic_tangent)
// e^x - 1, which keeps its digits where x is small; logarithms to the bases 2 and 10; 2^x; and 1 / x.
PINION_UNARY(expm1, exponential_minus_one)
PINION_UNARY(log2, logarithm_to_base_2)
PINION_UNARY(log10, logarithm_to_base_10)
PINION_UNARY(exp2, power_of_2)
PINION_UNARY(reciprocal, inverse)
// The nearest whole number towards 0. No gradient flows through it.
PINION_UNARY(trunc, truncated)
// log(sigmoid(x)), which does not overflow, and x / (1 + |x|), which is 1 and -1 at the infinities. TensorFlow:
// tf.math.log_sigmoid, tf.nn.softsign.
PINION_UNARY(logsigmoid, log_logistic)
PINION_UNARY(softsign, soft_sign)
#undef PINION_UNARY

// Whether elements are NaN, are infinite, or are neither: bool expressions. No gradient flows through them. TensorFlow:
// tf.math.is_nan, tf.math.is_inf, tf.math.is_finite.
#define PINION_TEST(function, functor_name)                                                                        \
  template <dsl::graph_operand A>                                                                                  \
  auto function(A&& x, std::string_view name = {}, source_location where = source_location::current()) {           \
    dsl::check_floating<A>();                                                                                      \
    return dsl::map_call<dsl::own_map<scalar::functor::functor_name>, dsl::value_of<A>, bool>(name, where,         \
                                                                                              std::forward<A>(x)); \
  }
PINION_TEST(is_nan, nan_test)
PINION_TEST(is_inf, infinity_test)
PINION_TEST(is_finite, finiteness_test)
#undef PINION_TEST

// Functions of two operands, of which one may be a scalar. Both have one dtype, and broadcast.
#define PINION_BINARY(function, functor_name)                                                                   \
  template <class A, class B>                                                                                   \
  requires dsl::operand_pair<A, B>                                                                              \
  auto function(A&& x, B&& y, std::string_view name = {}, source_location where = source_location::current()) { \
    return dsl::map_own<scalar::functor::functor_name>(name, where, std::forward<A>(x), std::forward<B>(y));    \
  }
// atan2(y, x) is the angle of the point (x, y), between -pi and pi, with <cmath>'s values at zeros and infinities. Its
// derivatives are x / (x^2 + y^2) by y and -y / (x^2 + y^2) by x, and 0 at the origin, where TensorFlow's are NaN.
// hypot(x, y) is sqrt(x^2 + y^2) without overflow on the way; its gradient at the origin is 0. xlogy(x, y) is x log(y),
// but 0 where x is 0, and so is its gradient there. huber(x, delta) is x^2 / 2 where |x| is at most delta, and
// delta (|x| - delta / 2) elsewhere; it is not checked that delta is positive. TensorFlow: tf.atan2, tf.math.xlogy,
// tf.keras.losses.huber, which takes the mean of them.
PINION_BINARY(atan2, arc_tangent_of_point)
PINION_BINARY(hypot, hypotenuse)
PINION_BINARY(xlogy, times_logarithm)
PINION_BINARY(huber, huber)
#undef PINION_BINARY

// (x - y)^2 of any number. TensorFlow: tf.math.squared_difference.
template <class A, class B>
requires dsl::operand_pair<A, B>
auto squared_difference(A&& x, B&& y, std::string_view name = {}, source_location where = source_location::current()) {
  return dsl::map_same<dsl::own_map<scalar::functor::difference_squared>>(name, where, std::forward<A>(x),
                                                                          std::forward<B>(y));
}

// floordiv(x, y) is the greatest whole number not above x / y, and mod(x, y) what is left of x beside that many y,
// which has the sign of y: mod(-1, 3) is 2. They take any number, and give what Python's // and % do. Of integers
// divided by 0, floordiv is 0 and mod is x; floats follow IEEE 754, so that mod(x, 0) is NaN. mod of floats is computed
// as x - floor(x / y) y, and so exact to the last digits of x, not of the result. Its derivatives are 1 and
// -floordiv(x, y); none flows through floordiv. TensorFlow: tf.math.floormod and tf.math.floordiv, which fail for an
// integer divided by 0.
#define PINION_QUOTIENT(function, functor_name)                                                                     \
  template <class A, class B>                                                                                       \
  requires dsl::operand_pair<A, B>                                                                                  \
  auto function(A&& x, B&& y, std::string_view name = {}, source_location where = source_location::current()) {     \
    using functor = std::conditional_t<dsl::floating_value<dsl::common_value<A, B>>, scalar::functor::functor_name, \
                                       scalar::functor::functor_name##_of_integers>;                                \
    return dsl::map_same<dsl::own_map<functor>>(name, where, std::forward<A>(x), std::forward<B>(y));               \
  }
PINION_QUOTIENT(mod, floor_mod)
PINION_QUOTIENT(floordiv, floor_quotient)
#undef PINION_QUOTIENT

// Whether one of two bools is true, and not both: not_equal of bools. One operand may be true or false. TensorFlow:
// tf.math.logical_xor.
template <class A, class B>
requires dsl::operand_pair<A, B>
auto logical_xor(A&& x, B&& y, std::string_view name = {}, source_location where = source_location::current()) {
  static_assert(dsl::same_dtype<dsl::common_value<A, B>, bool>, "logical_xor takes bools; a comparison makes them");
  return dsl::map_masks<op::not_equal_masks>(name, where, std::forward<A>(x), std::forward<B>(y));
}

// A vector of n numbers from start to stop, both included, at equal distances; {start} where n is 1. float, double.
// Throws invalid_argument for an n below 1. TensorFlow: tf.linspace.
//
//   auto x = pn::linspace(0.f, 1.f, 5);                   // 0, .25, .5, .75, 1
template <dsl::floating_value T>
expr<T> linspace(T start, T stop, std::int64_t n, std::string_view name = {},
                 source_location where = source_location::current()) {
  if (n < 1) throw error(errc::invalid_argument, "linspace makes one number or more, not " + std::to_string(n));
  const expr<T> places = range(T(0), static_cast<T>(n), T(1), {}, where);
  const expr<T> share = divide(places, static_cast<T>(n > 1 ? n - 1 : 1), {}, where);
  const expr<T> rest = multiply(subtract(T(1), share, {}, where), start, {}, where);
  return add(rest, multiply(share, stop, {}, where), name.empty() ? "linspace" : name, where);
}

}}  // namespace pinion::v0
