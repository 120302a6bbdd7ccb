// Reshaping and transposing.
//
//   auto flat = pn::reshape(images, {-1, 784});      // [n, 28, 28] -> [n, 784]
//   auto rows = pn::expand_dims(v, 0);               // [k] -> [1, k]
//   auto swapped = pn::transpose(x, {0, 2, 1});       // [n, a, b] -> [n, b, a]
//
// A result shares the operand's memory, except for that of transpose. Any dtype, but transpose takes no text;
// differentiable in float and double. Each function throws invalid_argument for axes and shapes that do not fit, as far
// as shapes are known; the step fails otherwise. A negative axis counts from the last one.
#pragma once

#include <string_view>
#include <utility>

#include <pinion/dsl/node_call.hpp>
#include <pinion/op/layout/op.hpp>
#include <pinion/opkit/axis_list.hpp>

namespace pinion { inline namespace v0 {

// The elements of x in another shape. One extent may be -1; it follows from the number of elements. Elements keep their
// row-major order, and nothing is copied. `to` may have unknown extents only as that one -1; a shape with two of them
// throws invalid_argument, and so does one that the elements do not fill.
//
//   auto rows = pn::reshape(x, {-1, 784});     // the batch follows
//   auto one = pn::reshape(scalar, {1});       // [] -> [1]; pn::reshape(one, {}) is the way back
template <dsl::graph_operand A>
auto reshape(A&& x, const shape& to, std::string_view name = {}, source_location where = source_location::current()) {
  return dsl::node_call<op::reshape, dsl::value_of<A>>(name, where, {{"shape", to}}, std::forward<A>(x));
}
// x with a new axis of extent 1 before `axis`; -1 appends it behind the last one. A vector [k] becomes a row by axis 0,
// and a column by axis 1 or -1, such that it broadcasts over the other axis. Axes reach from -rank - 1 up to rank.
// TensorFlow: tf.expand_dims.
template <dsl::graph_operand A>
auto expand_dims(A&& x, std::int64_t axis, std::string_view name = {},
                 source_location where = source_location::current()) {
  return dsl::node_call<op::expand_dims, dsl::value_of<A>>(name, where, {{"axis", axis}}, std::forward<A>(x));
}
// x without the given axes, which have extent 1. Without `axes`, all axes of extent 1 are dropped. A named axis with
// another extent throws invalid_argument. Without `axes` the shape of x must be known for the rank of the result to be
// known before the graph runs: for x [pn::unknown, 1] it is not, so name the axes there.
template <dsl::graph_operand A>
auto squeeze(A&& x, const axis_list& axes = {}, std::string_view name = {},
             source_location where = source_location::current()) {
  attributes attrs;
  if (!axes.all) attrs.set("axes", axes.axes);
  return dsl::node_call<op::squeeze, dsl::value_of<A>>(name, where, std::move(attrs), std::forward<A>(x));
}
// x with its axes permuted: axis i of the result is axis permutation[i] of x. The permutation names each axis once,
// from 0 on; here no axis counts from the end. transpose(x, {1, 0}) is that of a matrix. The elements are copied; a
// matmul takes its operands transposed without a copy, by its options.
template <dsl::graph_operand A>
auto transpose(A&& x, const integers& permutation, std::string_view name = {},
               source_location where = source_location::current()) {
  return dsl::node_call<op::transpose, dsl::value_of<A>>(name, where, {{"perm", permutation}}, std::forward<A>(x));
}
}}  // namespace pinion::v0
