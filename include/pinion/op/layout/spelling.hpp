// Reshaping and transposing.
//
//   auto flat = pn::reshape(images, {-1, 784});      // [n, 28, 28] -> [n, 784]
//   auto rows = pn::expand_dims(v, 0);               // [k] -> [1, k]
//   auto turned = pn::transpose(x, {0, 2, 1});       // [n, a, b] -> [n, b, a]
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

// The elements of x in another shape. One extent may be -1; it follows from the number of elements.
template <dsl::graph_operand A>
auto reshape(A&& x, const shape& to, std::string_view name = {}, source_location where = source_location::current()) {
  return dsl::node_call<op::reshape, dsl::value_of<A>>(name, where, {{"shape", to}}, std::forward<A>(x));
}
// x with a new axis of extent 1 before `axis`; -1 appends it behind the last one.
template <dsl::graph_operand A>
auto expand_dims(A&& x, std::int64_t axis, std::string_view name = {},
                 source_location where = source_location::current()) {
  return dsl::node_call<op::expand_dims, dsl::value_of<A>>(name, where, {{"axis", axis}}, std::forward<A>(x));
}
// x without the given axes, which have extent 1. Without `axes`, all axes of extent 1 are dropped.
template <dsl::graph_operand A>
auto squeeze(A&& x, const axis_list& axes = {}, std::string_view name = {},
             source_location where = source_location::current()) {
  attributes attrs;
  if (!axes.all) attrs.set("axes", axes.axes);
  return dsl::node_call<op::squeeze, dsl::value_of<A>>(name, where, std::move(attrs), std::forward<A>(x));
}
// x with its axes permuted: axis i of the result is axis permutation[i] of x.
template <dsl::graph_operand A>
auto transpose(A&& x, const integers& permutation, std::string_view name = {},
               source_location where = source_location::current()) {
  return dsl::node_call<op::transpose, dsl::value_of<A>>(name, where, {{"perm", permutation}}, std::forward<A>(x));
}
}}  // namespace pinion::v0
