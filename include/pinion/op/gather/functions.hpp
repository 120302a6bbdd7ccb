// Selecting parts of a tensor by index.
//
//   auto rows = pn::gather(table, ids);            // [v, d] and [n] -> [n, d]
//   auto classes = pn::one_hot<float>(ids, 10);    // [n] -> [n, 10]
//
// Indices are int32 or int64 and not differentiable; params may have any dtype.
#pragma once

#include <string_view>
#include <type_traits>
#include <utility>

#include <pinion/dsl/node_call.hpp>
#include <pinion/op/gather/op.hpp>

namespace pinion { inline namespace v0 {

// Options of gather. The axis is one of params; a negative one counts from the last.
struct gather_options {
  std::int64_t axis = 0;
  std::string_view name = {};
};
// The parts of params at the given indices along an axis. The result has the axes of the indices in place of that axis:
// params [5, 3] and indices [2] -> [2, 3]. The gradient along axis 0 is sparse. An index outside fails the step. The
// indices have any shape, and may be repeated; a negative index does not count from the end. Throws invalid_argument
// for a scalar params and an axis that it does not have. The step fails with invalid_argument for an index outside [0,
// extent of the axis), and names the index and its position. TensorFlow: tf.gather, which yields zeros there on a GPU;
// its batch_dims are those of batch_gather in op/dynamic.
//
// Sparse means that only the rows looked up have a gradient: an optimizer updates these rows of a variable and no
// others. Rows that were taken twice get both gradients. Along another axis, or through an op between the variable and
// gather, the gradient becomes a dense tensor.
template <dsl::graph_operand P, dsl::graph_operand I>
requires(!dsl::partitioned<P>)  // partitioned_variable.hpp has that
    auto gather(P&& params, I&& indices, const gather_options& options = {},
                source_location where = source_location::current()) {
  static_assert(is_integer(dtype_of<dsl::value_of<I>>), "indices are int32 or int64; pn::cast<int>(x) converts");
  return dsl::node_call<op::gather, dsl::value_of<P>>(options.name, where, {{"axis", options.axis}},
                                                      std::forward<P>(params), std::forward<I>(indices));
}

// Encodes indices as rows: indices [...] -> [..., depth], with 1 at the index and 0 elsewhere. An index outside [0,
// depth) yields a row of zeros. T is the dtype of the result and is always given: one_hot<float>(labels, 10). Throws
// invalid_argument for a negative depth. No gradient flows to the indices. TensorFlow: tf.one_hot with axis -1,
// on_value 1 and off_value 0.
//
//   auto y = pn::one_hot<float>(pn::constant<int>({2, 0}), 3);        // {{0, 0, 1}, {1, 0, 0}}
template <element T, dsl::graph_operand I>
auto one_hot(I&& indices, std::int64_t depth, std::string_view name = {},
             source_location where = source_location::current()) {
  static_assert(is_integer(dtype_of<dsl::value_of<I>>), "indices are integers; pn::cast<int>(x) converts");
  static_assert(!std::is_same_v<T, std::string>, "text is neither 0 nor 1");
  return dsl::node_call<op::one_hot, T>(name.empty() ? "one_hot" : name, where,
                                        {{"depth", depth}, {"dtype", dtype_of<T>}}, std::forward<I>(indices));
}
template <class T, dsl::graph_operand I>
requires(!element<T>) PINION_REFUSED(PINION_ELEMENT_TYPES)
one_hot(I&&, std::int64_t, std::string_view = {}) PINION_REFUSAL;

}}  // namespace pinion::v0
