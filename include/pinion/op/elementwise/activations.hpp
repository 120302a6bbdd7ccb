// Activations beside relu, elu, sigmoid, softplus and tanh, and clipping.
//
//   auto h = pn::nn::dense(x, 160, pn::gelu);
//   auto y = pn::leaky_relu(pn::matmul(x, w) + b, .2f);      // the sum and the activation are one node
//
// Each fuses, broadcasts and is differentiated like the other elementwise functions. An activation takes float or
// double, and its node has op Map, is named after the function, and carries its program; clip_by_value takes any
// number, and its node has op Minimum.
#pragma once

#include <string_view>
#include <utility>

#include <pinion/op/elementwise/functions.hpp>

namespace pinion { inline namespace v0 {

#define PINION_ACTIVATION(function)                                                                      \
  namespace dsl {                                                                                        \
  template <graph_operand A>                                                                             \
  auto function(A&& x, std::string_view name = {}, source_location where = source_location::current()) { \
    check_floating<A>();                                                                                 \
    return map_own<scalar::functor::function>(name, where, std::forward<A>(x));                          \
  }                                                                                                      \
  }                                                                                                      \
  PINION_AS_OBJECT(function)
// gelu is x P(X <= x) for a normal X, which is x (1 + erf(x / sqrt(2))) / 2, and gelu_by_tanh its approximation
// x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) / 2, which published weights may ask for. silu is x sigmoid(x), also
// called swish, and mish x tanh(softplus(x)). selu is 1.0507 x above 0 and 1.7581 (e^x - 1) elsewhere. relu6 is x
// between 0 and 6, hard_sigmoid relu6(x + 3) / 6, and hard_swish x times that. Of -infinity selu is
// -1.7581, relu6 and hard_sigmoid are 0, and the others NaN, since infinity times 0 is. TensorFlow: tf.nn.gelu with
// approximate false or true, tf.nn.silu, tf.nn.selu, tf.nn.relu6.
PINION_ACTIVATION(gelu)
PINION_ACTIVATION(gelu_by_tanh)
PINION_ACTIVATION(silu)
PINION_ACTIVATION(mish)
PINION_ACTIVATION(selu)
PINION_ACTIVATION(relu6)
PINION_ACTIVATION(hard_sigmoid)
PINION_ACTIVATION(hard_swish)
#undef PINION_ACTIVATION

// x where it is above 0, and slope x elsewhere. The slope is a number, or an expression that broadcasts, such as the
// variable of a parametric relu; its gradient is x where x is not above 0. At 0 the derivative by x is the slope.
// TensorFlow: tf.nn.leaky_relu, whose alpha is 0.2 by default.
template <dsl::graph_operand A, class S>
requires dsl::operand_pair<A, S>
auto leaky_relu(A&& x, S&& slope, std::string_view name = {}, source_location where = source_location::current()) {
  dsl::check_floating<A>();
  return dsl::map_own<scalar::functor::leaky_relu>(name, where, std::forward<A>(x), std::forward<S>(slope));
}

// x, but `low` where it is below that, and `high` where it is above that: minimum(maximum(x, low), high), of any
// number. The limits are numbers, or expressions that broadcast with x. NaN stays NaN, and where low is above high the
// result is high. The gradient passes where x is within the limits, both included, and goes to a limit elsewhere.
// TensorFlow: tf.clip_by_value.
template <dsl::graph_operand A, class L, class H>
requires dsl::operand_pair<A, L> && dsl::operand_pair<A, H>
auto clip_by_value(A&& x, L&& low, H&& high, std::string_view name = {},
                   source_location where = source_location::current()) {
  return minimum(maximum(std::forward<A>(x), std::forward<L>(low), {}, where), std::forward<H>(high), name, where);
}

}}  // namespace pinion::v0
