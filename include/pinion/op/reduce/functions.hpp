// Reductions: sums, means, extremes, products, and the index of the greatest or least element.
//
//   auto rows = pn::reduce_sum(x, -1);               // [m, n] -> [m], as does {.axes = {-1}}
//   auto all = pn::reduce_mean(x);                   // a scalar
//
// Negative axes count from the last one. An axis that does not exist, or is given twice, throws invalid_argument.
//
//   x [2, 3, 4]      {.axes = {1}}                       [2, 4]
//                    {.axes = {0, -1}}                   [3]
//                    {.axes = {1}, .keep_dims = true}    [2, 1, 4], which broadcasts with x
//                    {}                                  []
//
// TensorFlow: tf.reduce_sum and the others of these names, tf.argmax, tf.argmin.
#pragma once

#include <cstdint>
#include <string_view>
#include <type_traits>
#include <utility>

#include <pinion/dsl/node_call.hpp>
#include <pinion/op/reduce/op.hpp>
#include <pinion/opkit/axis_list.hpp>

namespace pinion { inline namespace v0 {

namespace dsl {
// The option that is called axes: a value for this one is refused with a sentence.
struct misspelt_axes {
  constexpr misspelt_axes() = default;
  template <class T>
  constexpr misspelt_axes(const T&) {
    static_assert(std::is_void_v<T>, "the axes of a reduction are a list: {.axes = {1}}, or reduce_sum(x, 1) for one");
  }
};
}  // namespace dsl

// Options of all reductions; without axes they reduce all of them. An empty list in braces, {.axes = {}}, is the
// default and reduces all axes.
struct reduce_options {
  axis_list axes = {};
  bool keep_dims = false;  // keep reduced axes, with extent 1
  std::string_view name = {};
  [[no_unique_address]] dsl::misspelt_axes axis = {};
};

namespace dsl {
// The number of an axis. {} is none: it stands for the options.
template <class I>
concept axis_number = std::is_integral_v<I> && !std::is_same_v<I, bool>;

template <class Op, element T, class A>
auto reduce(A&& x, const reduce_options& options, source_location where) {
  attributes attrs{{"keep_dims", options.keep_dims}};
  if (!options.axes.all) attrs.set("axes", options.axes.axes);
  return node_call<Op, T>(options.name, where, std::move(attrs), std::forward<A>(x));
}
}  // namespace dsl

// Reductions of numbers of any dtype, which is the result's. Over no elements the sum is 0, the mean NaN (0 for
// integers), the max the lowest value of the dtype, the min the highest, the product 1. The result has the operand's
// axes without the reduced ones, in their order. Sums and products of integers wrap around; a mean of integers is
// exact, and rounded towards zero. NaN in any element makes the result NaN, max and min included. The number of threads
// does not change a bit of a result.
//
// Gradients, for float and double: a sum passes dy on to every element, a mean passes dy / n, a max or min shares dy
// evenly among all elements that are equal to it (tf.reduce_max does so too), and a product uses the products of the
// other elements, so it is right beside zeros.
#define PINION_REDUCTION(function)                                                                               \
  template <dsl::graph_operand A>                                                                                \
  auto function(A&& x, const reduce_options& options = {}, source_location where = source_location::current()) { \
    static_assert(!std::is_same_v<dsl::value_of<A>, bool>, "pn::cast<float>(x) makes numbers of bools");         \
    return dsl::reduce<op::function, dsl::value_of<A>>(std::forward<A>(x), options, where);                      \
  }                                                                                                              \
  template <dsl::graph_operand A, dsl::axis_number I>                                                            \
  auto function(A&& x, I axis, source_location where = source_location::current()) {                             \
    return function(std::forward<A>(x), {.axes = {axis}}, where);                                                \
  }
PINION_REDUCTION(reduce_sum)
PINION_REDUCTION(reduce_mean)
PINION_REDUCTION(reduce_max)
PINION_REDUCTION(reduce_min)
PINION_REDUCTION(reduce_prod)
#undef PINION_REDUCTION

// reduce_all tells whether every bool is true, reduce_any whether one is. Over no elements: true, false. They have no
// gradient. A predicate of a cond comes from them: cond(reduce_all(x > 0.f), ...).
#define PINION_REDUCTION(function)                                                                                  \
  template <dsl::graph_operand A>                                                                                   \
  auto function(A&& x, const reduce_options& options = {}, source_location where = source_location::current()) {    \
    static_assert(std::is_same_v<dsl::value_of<A>, bool>, "this is a reduction of bools; a comparison makes them"); \
    return dsl::reduce<op::function, bool>(std::forward<A>(x), options, where);                                     \
  }                                                                                                                 \
  template <dsl::graph_operand A, dsl::axis_number I>                                                               \
  auto function(A&& x, I axis, source_location where = source_location::current()) {                                \
    return function(std::forward<A>(x), {.axes = {axis}}, where);                                                   \
  }
PINION_REDUCTION(reduce_all)
PINION_REDUCTION(reduce_any)
#undef PINION_REDUCTION

// The index, int64, of the greatest element along an axis, or of the first of several equal ones. NaN counts as the
// greatest. The result has the operand's axes without that one, and no gradient flows through it. Throws
// invalid_argument for an axis that does not exist. TensorFlow's passes over NaN.
//
//   auto guess = pn::argmax(logits, 1);                   // [n, c] -> [n], int64
template <dsl::graph_operand A>
auto argmax(A&& x, std::int64_t axis = 0, std::string_view name = {},
            source_location where = source_location::current()) {
  return dsl::node_call<op::argmax, std::int64_t>(name, where, {{"axis", axis}}, std::forward<A>(x));
}
// The index of the least element, by the same rules: the first of several equal ones, and NaN counts as the least.
// Kernels are of CPUs.
template <dsl::graph_operand A>
auto argmin(A&& x, std::int64_t axis = 0, std::string_view name = {},
            source_location where = source_location::current()) {
  return dsl::node_call<op::argmin, std::int64_t>(name, where, {{"axis", axis}}, std::forward<A>(x));
}

}}  // namespace pinion::v0
