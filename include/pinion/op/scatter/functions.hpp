// Parts of a tensor at indices of several numbers, and sums of rows over segments.
//
//   auto picked = pn::gather_nd(x, places);                              // [m, n] and [k, 2] -> [k]
//   auto dense = pn::scatter_nd(places, picked, {m, n});                 // the other way: 0 where nothing is
//   auto totals = pn::segment_sum(sales, shops, {.segments = 10});       // [m, n] and [m] -> [10, n]
//
// Indices and ids are int32 or int64, and no gradient flows to them. Kernels are of CPUs.
#pragma once

#include <string_view>
#include <utility>

#include <pinion/dsl/node_call.hpp>
#include <pinion/op/elementwise/functions.hpp>
#include <pinion/op/scatter/op.hpp>
#include <pinion/op/source/op.hpp>

namespace pinion { inline namespace v0 {

// The parts of x at indices [..., d]: each index is d numbers, along the first d axes of x, and chooses what is there,
// so the result has shape indices.shape[:-1] + x.shape[d:]. With x [m, n], indices [k, 2] choose k elements, [k, 1]
// choose k rows, and [k, 0] all of x k times. x has any dtype, and indices may be repeated; negative ones do not count
// from the end. The gradients of a part that was taken twice add up.
//
// Throws invalid_argument for scalar indices and for more numbers than x has axes. The step fails with invalid_argument
// for an index outside of x, and names its numbers and its position. TensorFlow: tf.gather_nd, which yields zeros there
// on a GPU.
template <dsl::graph_operand A, dsl::graph_operand I>
auto gather_nd(A&& x, I&& indices, std::string_view name = {}, source_location where = source_location::current()) {
  static_assert(is_integer(dtype_of<dsl::value_of<I>>), "indices are int32 or int64; pn::cast<int>(x) converts");
  return dsl::node_call<op::gather_nd, dsl::value_of<A>>(name.empty() ? "gather_nd" : name, where, {},
                                                         std::forward<A>(x), std::forward<I>(indices));
}

// A tensor of this shape with the updates at their indices, and 0 elsewhere. Indices are those of gather_nd, and
// updates have the shape that it yields. Updates of one index add up, in their order; integers wrap around. The
// gradient of the updates is gather_nd of that of the result.
//
// Throws invalid_argument for updates that are no numbers or of another shape, and for a shape that is not known. The
// step fails with invalid_argument for an index outside. TensorFlow: tf.scatter_nd.
template <dsl::graph_operand I, dsl::graph_operand A>
auto scatter_nd(I&& indices, A&& updates, const shape& to, std::string_view name = {},
                source_location where = source_location::current()) {
  static_assert(is_integer(dtype_of<dsl::value_of<I>>), "indices are int32 or int64; pn::cast<int>(x) converts");
  return dsl::node_call<op::scatter_nd, dsl::value_of<A>>(name.empty() ? "scatter_nd" : name, where, {{"shape", to}},
                                                          std::forward<I>(indices), std::forward<A>(updates));
}

// Options of the folds over segments: their number, which is always given.
struct segment_options {
  std::int64_t segments = -1;
  std::string_view name = {};
};

// Folds of the rows of x over segments: x [m, ...] and ids [m] -> [segments, ...], where row i is the sum (or maximum,
// minimum, product) of the rows of x whose id is i. Ids come in any order, and rows are taken in theirs, so the result
// does not depend on threads. A row with a negative id is dropped. x is of numbers, and integers wrap around. Over no
// rows a sum is 0, a maximum the lowest finite number of the dtype, a minimum the highest and a product 1.
//
// The gradient of a sum goes to its rows, 0 to those that were dropped. That of a maximum or minimum is shared equally
// by the elements that attain it. That of a product has no division, so it is right beside zeros.
//
// Throws invalid_argument for other dtypes, a scalar x, ids that are not one for each row, and a number of segments
// below 0 or not given. The step fails with invalid_argument for an id that is no segment, and names it and its
// position. TensorFlow: tf.math.unsorted_segment_sum and its kin.
#define PINION_SEGMENT_FOLD(function)                                                                                 \
  template <dsl::graph_operand A, dsl::graph_operand I>                                                               \
  auto function(A&& x, I&& ids, const segment_options& options, source_location where = source_location::current()) { \
    static_assert(is_integer(dtype_of<dsl::value_of<I>>), "ids are int32 or int64; pn::cast<int>(x) converts");       \
    return dsl::node_call<op::function, dsl::value_of<A>>(options.name.empty() ? #function : options.name, where,     \
                                                          {{"segments", options.segments}}, std::forward<A>(x),       \
                                                          std::forward<I>(ids));                                      \
  }
PINION_SEGMENT_FOLD(segment_sum)
PINION_SEGMENT_FOLD(segment_max)
PINION_SEGMENT_FOLD(segment_min)
PINION_SEGMENT_FOLD(segment_prod)
#undef PINION_SEGMENT_FOLD

// The means of the rows of x, of float or double, over segments: their sums divided by their numbers, and 0 over no
// rows. It takes what segment_sum takes, fails as that does, and has its gradient, divided likewise. TensorFlow:
// tf.math.unsorted_segment_mean.
template <dsl::graph_operand A, dsl::graph_operand I>
auto segment_mean(const A& x, const I& ids, const segment_options& options,
                  source_location where = source_location::current()) {
  using T = dsl::value_of<A>;
  dsl::check_floating<A>();
  const segment_options unnamed{.segments = options.segments};
  const auto ones = dsl::node_call<op::ones_like, T>({}, where, {}, x);
  const auto sums = segment_sum(x, ids, unnamed, where), counts = segment_sum(ones, ids, unnamed, where);
  return divide(sums, maximum(counts, T(1), {}, where), options.name, where);
}

}}  // namespace pinion::v0
