// Where elements are: the places of true ones, parts by a mask, different elements, and places in sorted lines.
//
//   auto places = pn::where(x > 0.f);                              // [n, rank of x], int64
//   auto kept = pn::boolean_mask(rows, is_good);                   // [m, d] and [m] -> [n, d]
//   auto [values, indices] = pn::unique(ids);                      // [n] and [m]; values[indices] is ids
//   auto bins = pn::searchsorted(edges, x);                        // [n] and [k] -> [k], int32
//
// The numbers of results of the first three are known when a step runs. Kernels are of CPUs.
#pragma once

#include <string_view>
#include <type_traits>
#include <utility>

#include <pinion/dsl/node_call.hpp>
#include <pinion/op/gather/functions.hpp>
#include <pinion/op/layout/op.hpp>
#include <pinion/op/search/op.hpp>

namespace pinion { inline namespace v0 {

// The places of the true elements of a bool tensor, in the order of its elements: condition [...] of rank r -> int64
// [n, r], whose rows gather_nd and scatter_nd take as indices. A scalar has one place of no numbers, or none. No
// gradient flows through it; select chooses between two tensors. TensorFlow: tf.where of one argument.
template <dsl::graph_operand C>
auto where(C&& condition, std::string_view name = {}, source_location line = source_location::current()) {
  static_assert(std::is_same_v<dsl::value_of<C>, bool>, "where asks which bools are true; x != 0 makes bools");
  return dsl::node_call<op::where, std::int64_t>(name, line, {}, std::forward<C>(condition));
}

// Options of boolean_mask. A negative axis is one of the result, counted from its last.
struct boolean_mask_options {
  std::int64_t axis = 0;
  std::string_view name = {};
};

// The parts of x where a mask is true. The mask has the extents of as many neighbouring axes of x, from `axis` on; in
// the result one axis stands for these, whose extent is the number of true elements: x [m, n, d] and mask [m, n] ->
// [k, d], and along axis 1 with mask [n] -> [m, k, d]. x has any dtype. Its gradient is 0 where the mask is false.
//
// Throws invalid_argument for a scalar mask, and for one that does not fit x; where a shape is not known before the
// step, that fails. TensorFlow: tf.boolean_mask.
template <dsl::graph_operand A, dsl::graph_operand M>
auto boolean_mask(const A& x, const M& mask, const boolean_mask_options& options = {},
                  source_location where = source_location::current()) {
  static_assert(std::is_same_v<dsl::value_of<M>, bool>, "a mask is of bools; x != 0 makes them");
  using T = dsl::value_of<A>;
  const attributes axis{{"axis", options.axis}};
  const auto indices = dsl::node_call<op::mask_indices, std::int64_t>({}, where, axis, mask, x);
  const auto merged = dsl::node_call<op::merge_axes, T>({}, where, axis, x, mask);
  return gather(merged, indices, {.axis = options.axis, .name = options.name.empty() ? "boolean_mask" : options.name},
                where);
}

// The result of unique.
template <element T>
struct unique_result {
  expr<T> values;
  expr<int> indices;
};

// The different elements of x [m], in the order in which each is first there, [n], and for each element of x the index
// of its value among them, int32, [m]. x has any dtype. A NaN equals no other, and -0.0 equals 0.0; halves are equal if
// their bits are. No gradient flows through it. Throws invalid_argument for an x of another rank. TensorFlow:
// tf.unique.
template <dsl::graph_operand A>
unique_result<dsl::value_of<A>> unique(A&& x, std::string_view name = {},
                                       source_location where = source_location::current()) {
  const auto values = dsl::node_call<op::unique, dsl::value_of<A>>(name, where, {}, std::forward<A>(x));
  graph& g = values.owner();
  return {expr<dsl::value_of<A>>(g, {values.id(g), 0}), expr<int>(g, {values.id(g), 1})};
}

// The end of a row of equal elements at which searchsorted puts a value: before them, or behind.
enum class side { left, right };
struct searchsorted_options {
  pinion::side side = pinion::side::left;
  std::string_view name = {};
};

// Where values would be put into sorted lines so that these stay sorted: sorted [..., n] and values [..., k] -> int32
// [..., k], the number of elements of the line that are less than the value, or, on the right side, not greater. Both
// have the same leading extents and one dtype of numbers. Lines are sorted as pn::sort does it, NaN last; in others the
// places mean nothing. No gradient flows through it.
//
// Throws invalid_argument for scalars, other dtypes, and leading extents that differ. TensorFlow: tf.searchsorted.
template <dsl::graph_operand A, dsl::graph_operand V>
auto searchsorted(A&& sorted, V&& values, const searchsorted_options& options = {},
                  source_location where = source_location::current()) {
  static_assert(dsl::same_dtype<dsl::value_of<A>, dsl::value_of<V>>,
                "values are looked for among those of their dtype; pn::cast converts");
  const std::string_view name = options.name.empty() ? "searchsorted" : options.name;
  if (options.side == side::right)
    return expr<int>(
        dsl::node_call<op::upper_bound, int>(name, where, {}, std::forward<A>(sorted), std::forward<V>(values)));
  return expr<int>(
      dsl::node_call<op::lower_bound, int>(name, where, {}, std::forward<A>(sorted), std::forward<V>(values)));
}

}}  // namespace pinion::v0
