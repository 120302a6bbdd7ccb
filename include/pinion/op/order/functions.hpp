// Order along an axis: sorting, the largest elements, sums and products of all elements so far, elements by index.
//
//   auto [values, indices] = pn::top_k(scores, 5);                       // [..., n] -> twice [..., 5]
//   auto order = pn::argsort(x, {.axis = 0, .descending = true});        // of the shape of x, int32
//   auto sorted = pn::take_along_axis(x, order, {.axis = 0});            // as pn::sort(x, {...})
//   auto totals = pn::cumsum(x, 1);                                      // of the shape of x
//
// Operands are numbers of any dtype; others throw invalid_argument. Extents may be 0. Kernels are of CPUs.
#pragma once

#include <string_view>
#include <utility>

#include <pinion/dsl/node_call.hpp>
#include <pinion/op/order/op.hpp>

namespace pinion { inline namespace v0 {

// Options of sort and argsort. A negative axis counts from the last.
struct sort_options {
  std::int64_t axis = -1;
  bool descending = false;
  std::string_view name = {};
};

// x, sorted along an axis, of the shape of x: the least element first or, descending, the greatest. Equal elements stay
// in their order. NaN is last either way. The gradient goes to where each element came from. Throws invalid_argument
// for an axis that x does not have, so for a scalar. TensorFlow: tf.sort.
template <dsl::graph_operand A>
auto sort(A&& x, const sort_options& options = {}, source_location where = source_location::current()) {
  return dsl::node_call<op::sort, dsl::value_of<A>>(
      options.name, where, {{"axis", options.axis}, {"descending", options.descending}}, std::forward<A>(x));
}

// The places, int32, of the elements of x along an axis in the order that sort gives them, of the shape of x. No
// gradient flows through it. Throws invalid_argument as sort does, and for an axis of more than 2^31 - 1 elements.
// TensorFlow: tf.argsort with stable=True.
template <dsl::graph_operand A>
auto argsort(A&& x, const sort_options& options = {}, source_location where = source_location::current()) {
  return dsl::node_call<op::arg_sort, int>(
      options.name, where, {{"axis", options.axis}, {"descending", options.descending}}, std::forward<A>(x));
}

// The result of top_k.
template <element T>
struct top_k_result {
  expr<T> values;
  expr<int> indices;
};

// The k largest elements along the last axis, the largest first, and their indices along it, int32: x [..., n] ->
// twice [..., k]. Of equal elements the one of the lower index comes first. NaN counts as the greatest, as in argmax.
// The gradient of the values goes to the elements that they are, and 0 to the others. Throws invalid_argument for a
// scalar and for k below 0 or above n; where n is not known before the step, that fails. TensorFlow: tf.math.top_k,
// which does not say where NaN is.
template <dsl::graph_operand A>
top_k_result<dsl::value_of<A>> top_k(A&& x, std::int64_t k, std::string_view name = {},
                                     source_location where = source_location::current()) {
  using T = dsl::value_of<A>;
  const auto values =
      dsl::node_call<op::top_k, T>(name.empty() ? "top_k" : name, where, {{"k", k}}, std::forward<A>(x));
  graph& g = values.owner();
  return {expr<T>(g, {values.id(g), 0}), expr<int>(g, {values.id(g), 1})};
}

// Options of cumsum and cumprod: an exclusive one leaves out the element itself, a reverse one begins at the last.
struct cumulative_options {
  bool exclusive = false, reverse = false;
  std::string_view name = {};
};

// Sums (or products) of all elements of x up to each along an axis, of the shape of x: of {a, b, c} they are {a, a + b,
// a + b + c}; exclusive {0, a, a + b}, reverse {a + b + c, b + c, c}, and both {b + c, c, 0}. An exclusive product
// begins with 1. Elements are added in their order, and integers wrap around. A negative axis counts from the last.
//
// The gradient of a sum is the sum of dy in the other direction. That of a product has no division, so it is right
// beside zeros. Throws invalid_argument for an axis that x does not have, so for a scalar. TensorFlow: tf.cumsum and
// tf.math.cumprod, whose gradient is NaN where an element is 0.
template <dsl::graph_operand A>
auto cumsum(A&& x, std::int64_t axis = 0, const cumulative_options& options = {},
            source_location where = source_location::current()) {
  return dsl::node_call<op::cumsum, dsl::value_of<A>>(
      options.name, where, {{"axis", axis}, {"exclusive", options.exclusive}, {"reverse", options.reverse}},
      std::forward<A>(x));
}
template <dsl::graph_operand A>
auto cumprod(A&& x, std::int64_t axis = 0, const cumulative_options& options = {},
             source_location where = source_location::current()) {
  return dsl::node_call<op::cumprod, dsl::value_of<A>>(
      options.name, where, {{"axis", axis}, {"exclusive", options.exclusive}, {"reverse", options.reverse}},
      std::forward<A>(x));
}

// Options of take_along_axis. A negative axis counts from the last.
struct take_along_axis_options {
  std::int64_t axis = -1;
  std::string_view name = {};
};

// For each index the element of x there along an axis, and at the same place along the others: x [m, n] and indices
// [m, k] along axis 1 -> y [m, k], with y[i, j] = x[i, indices[i, j]]. Indices are int32 or int64, have the rank of x,
// and its extents along the other axes; these do not broadcast. They may be repeated: the gradients of an element that
// was taken twice add up. A negative index does not count from the end. Throws invalid_argument for shapes that do not
// fit and an axis that x does not have. The step fails with invalid_argument for an index outside the axis, and names
// it and its position. TensorFlow: tf.gather with batch_dims, or tf.experimental.numpy.take_along_axis.
template <dsl::graph_operand A, dsl::graph_operand I>
auto take_along_axis(A&& x, I&& indices, const take_along_axis_options& options = {},
                     source_location where = source_location::current()) {
  static_assert(is_integer(dtype_of<dsl::value_of<I>>), "indices are int32 or int64; pn::cast<int>(x) converts");
  return dsl::node_call<op::take_along_axis, dsl::value_of<A>>(options.name, where, {{"axis", options.axis}},
                                                               std::forward<A>(x), std::forward<I>(indices));
}

}}  // namespace pinion::v0
