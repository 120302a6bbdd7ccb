// Numbers that sum up many others: norms, variances, the logarithm of a sum of exponentials, a count, and vectors
// beside each other. Each is a few nodes of other ops, in float and double, with gradients of any order.
//
//   auto length = pn::norm(x, {.axes = {-1}});            // [n, k] -> [n]
//   auto spread = pn::reduce_std(x, 0);                   // [n, k] -> [k]
//
// Axes are those of reductions (functions.hpp), and errors too.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <pinion/base/error.hpp>
#include <pinion/op/elementwise/maths.hpp>
#include <pinion/op/layout/functions.hpp>
#include <pinion/op/reduce/functions.hpp>
#include <pinion/op/source/functions.hpp>

namespace pinion { inline namespace v0 {

namespace dsl {

inline reduce_options kept_axes(const axis_list& axes) {
  return {.axes = axes, .keep_dims = true};
}

// x, which a reduction with kept axes made, without these.
template <element T>
expr<T> without_kept(const expr<T>& x, const axis_list& axes, std::string_view name, source_location where) {
  if (axes.all) return reshape(x, shape{}, name, where);
  return squeeze(x, axes, name, where);
}

template <element T>
expr<T> logsumexp(const expr<T>& x, const reduce_options& o, source_location where) {
  const reduce_options kept = kept_axes(o.axes);
  const expr<T> most = stop_gradient(reduce_max(x, kept, where), {}, where);
  const expr<T> shift = select(is_finite(most, {}, where), most, T(0), {}, where);
  const expr<T> sum = reduce_sum(exp(subtract(x, shift, {}, where), {}, where), kept, where);
  const bool is_last = o.keep_dims || (!o.axes.all && o.axes.axes.empty());
  const expr<T> all = add(log(sum, {}, where), shift, is_last ? o.name : std::string_view{}, where);
  return is_last ? all : without_kept(all, o.axes, o.name, where);
}

template <element T>
expr<T> variance(const expr<T>& x, const reduce_options& o, source_location where) {
  const expr<T> mean = reduce_mean(x, kept_axes(o.axes), where);
  return reduce_mean(square(subtract(x, mean, {}, where), {}, where), o, where);
}

template <element T>
expr<T> deviation(const expr<T>& x, const reduce_options& o, source_location where) {
  const expr<T> squares = variance(x, {.axes = o.axes, .keep_dims = o.keep_dims}, where);
  return map_own<scalar::functor::root_of_squares>(o.name, where, squares);
}

}  // namespace dsl

#define PINION_STATISTIC(function, of)                                                    \
  template <dsl::graph_operand A>                                                         \
  expr<dsl::value_of<A>> function(const A& x, const reduce_options& options = {},         \
                                  source_location where = source_location::current()) {   \
    dsl::check_floating<A>();                                                             \
    return dsl::of<dsl::value_of<A>>(x, options, where);                                  \
  }                                                                                       \
  template <dsl::graph_operand A, dsl::axis_number I>                                     \
  auto function(const A& x, I axis, source_location where = source_location::current()) { \
    return function(x, {.axes = {axis}}, where);                                          \
  }
// log(sum(e^x)), which does not overflow: the greatest element is subtracted first. Over no elements it is -infinity.
// The gradient is softmax(x) dy. TensorFlow: tf.reduce_logsumexp.
PINION_STATISTIC(reduce_logsumexp, logsumexp)
// The mean of (x - mean(x))^2, and its square root. They divide by the number of elements, not by one less. The
// gradient of the root is 0 where all elements are equal; TensorFlow's is NaN there. Over no elements they are NaN.
// TensorFlow: tf.math.reduce_variance, tf.math.reduce_std.
PINION_STATISTIC(reduce_variance, variance)
PINION_STATISTIC(reduce_std, deviation)
#undef PINION_STATISTIC

// The number of elements that are not 0, or are true, int64. NaN is not 0. No gradient flows through it. TensorFlow:
// tf.math.count_nonzero.
template <dsl::graph_operand A>
auto count_nonzero(A&& x, const reduce_options& options = {}, source_location where = source_location::current()) {
  using T = dsl::value_of<A>;
  static_assert(!std::is_same_v<T, std::string>, "texts are not counted by their value; a comparison makes bools");
  if constexpr (std::is_same_v<T, bool>)
    return reduce_sum(cast<std::int64_t>(std::forward<A>(x), {}, where), options, where);
  else
    return reduce_sum(cast<std::int64_t>(not_equal(std::forward<A>(x), T(0), {}, where), {}, where), options, where);
}

// Options of norm. ord is 1, 2 or infinity.
struct norm_options {
  double ord = 2;
  axis_list axes = {};
  bool keep_dims = false;
  std::string_view name = {};
};
// The norm of the vector of all elements along the axes: for ord 1 the sum of |x|, for 2 the root of the sum of x^2,
// and for infinity the greatest |x|. The gradient is sign(x), x / norm, or sign(x) shared by all elements that are
// greatest; where x is 0 it is 0. Throws invalid_argument for another ord. Squares may overflow: that of 1e20 is no
// float. TensorFlow: tf.norm, where two axes ask for the norm of a matrix.
//
//   auto length = pn::norm(x, {.axes = {1}});             // [m, n] -> [m]
template <dsl::graph_operand A>
expr<dsl::value_of<A>> norm(A&& x, const norm_options& o = {}, source_location where = source_location::current()) {
  dsl::check_floating<A>();
  const reduce_options last{.axes = o.axes, .keep_dims = o.keep_dims, .name = o.name};
  if (o.ord == 1) return reduce_sum(abs(std::forward<A>(x), {}, where), last, where);
  if (o.ord == HUGE_VAL) return reduce_max(abs(std::forward<A>(x), {}, where), last, where);
  if (o.ord != 2) throw error(errc::invalid_argument, "norm has ord 1, 2 or infinity, not " + std::to_string(o.ord));
  const reduce_options sums{.axes = o.axes, .keep_dims = o.keep_dims};
  return dsl::map_own<scalar::functor::root_of_squares>(o.name, where,
                                                        reduce_sum(square(std::forward<A>(x), {}, where), sums, where));
}

// Half of the sum of squares of all elements, a scalar. TensorFlow: tf.nn.l2_loss.
template <dsl::graph_operand A>
auto l2_loss(A&& x, std::string_view name = {}, source_location where = source_location::current()) {
  dsl::check_floating<A>();
  using T = dsl::value_of<A>;
  return multiply(reduce_sum(square(std::forward<A>(x), {}, where), {}, where), T(.5), name, where);
}

// Options of l2_normalize: the sum of squares counts as epsilon where it is less.
struct l2_normalize_options {
  axis_list axes = {};
  double epsilon = 1e-12;
  std::string_view name = {};
};
// x divided by its norm along the axes, x / sqrt(max(sum(x^2), epsilon)), of the shape of x. TensorFlow:
// tf.nn.l2_normalize.
//
//   auto unit = pn::l2_normalize(x, {.axes = {-1}});      // rows of length 1
template <dsl::graph_operand A>
expr<dsl::value_of<A>> l2_normalize(const A& x, const l2_normalize_options& o = {},
                                    source_location where = source_location::current()) {
  dsl::check_floating<A>();
  using T = dsl::value_of<A>;
  const expr<T> sum = reduce_sum(square(x, {}, where), dsl::kept_axes(o.axes), where);
  return multiply(x, rsqrt(maximum(sum, static_cast<T>(o.epsilon), {}, where), {}, where), o.name, where);
}

// Options of cosine_similarity.
struct cosine_similarity_options {
  std::int64_t axis = -1;
  std::string_view name = {};
};
// The cosine of the angle between vectors along an axis, sum(a b) / (norm(a) norm(b)), between -1 and 1, and 0 where
// one of them is 0. a and b have one dtype, and broadcast. TensorFlow: tf.keras.losses.cosine_similarity is its
// negative.
template <dsl::graph_operand A, dsl::graph_operand B>
expr<dsl::value_of<A>> cosine_similarity(const A& a, const B& b, const cosine_similarity_options& o = {},
                                         source_location where = source_location::current()) {
  const auto unit = [&](const auto& x) { return l2_normalize(x, {.axes = {o.axis}}, where); };
  return reduce_sum(multiply(unit(a), unit(b), {}, where), {.axes = {o.axis}, .name = o.name}, where);
}

}}  // namespace pinion::v0
