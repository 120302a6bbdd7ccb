// Updates of parts of variables at indices, which yield the new value. graph.hpp does not bring this header.
//
//   #include <pinion/op/rows/functions.hpp>
//
//   auto counted = pn::scatter_add(counts, words, 1.f);             // counts[words[i]] += 1
//   auto written = pn::scatter_update(table, ids, rows);            // table[ids[i]] = rows[i]
//   auto columns = pn::scatter_max(best, places, x, {.axis = 1});
//
// Each is atomic, as assign_add is. Indices are int or std::int64_t and do not count from the end; parts are written in
// the order of the indices, so one that is named twice gets both updates. An index outside fails the step with
// invalid_argument, and the variable stays as it was. A variable without a value fails it with failed_precondition.
// Updates have the dtype of the variable; they may be an expression, a variable, a host tensor or a number. Kernels are
// of CPUs. An update has no gradient: unimplemented.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include <pinion/base/config.hpp>
#include <pinion/dsl/node_call.hpp>
#include <pinion/op/rows/op.hpp>
#include <pinion/op/variable/functions.hpp>

namespace pinion { inline namespace v0 {

// Options of updates of rows: the axis of the variable, where a negative one counts from the last.
struct scatter_options {
  std::int64_t axis = 0;
  std::string_view name = {};
};

namespace dsl {

// Makes the node of an update by op Op, in the graph in use.
template <class Op, element T, graph_operand I, class V>
expr<T> make_row_update(const variable_handle<T>& v, I&& indices, V&& updates, attributes attrs, std::string_view name,
                        source_location where) {
  static_assert(std::is_same_v<value_of<I>, int> || std::is_same_v<value_of<I>, std::int64_t>,
                "indices are int or std::int64_t; pn::cast<int>(x) converts");
  if constexpr (graph_operand<V>)
    static_assert(same_dtype<T, value_of<V>>, "updates have another dtype than the variable; pn::cast<T>(x) converts");
  const endpoint here = captured_in(v.owner(), v.reference(v.owner()));
  graph& g = *here.of;
  const output at = endpoint_of(indices, where).endpoint(g);
  const output by = input_of<T>(g, updates, std::string(name.empty() ? Op::name : name) + "/updates", where);
  return {g, make_node(g, Op::name, name, where, std::move(attrs), {here.what, at, by})};
}

}  // namespace dsl

// Write the rows of a variable at indices along an axis: the axes of the indices stand in place of that axis in the
// shape of the updates, or the updates are one number for all elements. Rows become the updates (any dtype but text),
// or rows + updates, rows - updates, rows * updates, rows / updates, and the lesser and the greater of both (numbers).
// Throw invalid_argument for another shape or axis, as far as shapes are known. TensorFlow: tf.scatter_update,
// scatter_add, scatter_sub, scatter_mul, scatter_div, scatter_min, scatter_max, which know axis 0 alone.
#define PINION_SCATTER(function)                                                                               \
  template <element T, dsl::graph_operand I, class V>                                                          \
  expr<T> function(const variable_handle<T>& v, I&& indices, V&& updates, const scatter_options& options = {}, \
                   source_location where = source_location::current()) {                                       \
    return dsl::make_row_update<op::function>(v, std::forward<I>(indices), std::forward<V>(updates),           \
                                              {{"axis", options.axis}}, options.name, where);                  \
  }
PINION_SCATTER(scatter_update)
PINION_SCATTER(scatter_add)
PINION_SCATTER(scatter_sub)
PINION_SCATTER(scatter_mul)
PINION_SCATTER(scatter_div)
PINION_SCATTER(scatter_min)
PINION_SCATTER(scatter_max)
#undef PINION_SCATTER

// Write the parts of a variable at indices [..., d], of which each is d numbers along its first d axes. Updates have
// the shape that gather_nd yields. Throw invalid_argument for another one. TensorFlow: tf.scatter_nd_update,
// scatter_nd_add, scatter_nd_sub.
//
//   auto set = pn::scatter_nd_update(board, pn::constant<int>({{0, 2}, {1, 1}}), pn::constant<float>({1, 2}));
#define PINION_SCATTER(function)                                                                                       \
  template <element T, dsl::graph_operand I, class V>                                                                  \
  expr<T> function(const variable_handle<T>& v, I&& indices, V&& updates, std::string_view name = {},                  \
                   source_location where = source_location::current()) {                                               \
    return dsl::make_row_update<op::function>(v, std::forward<I>(indices), std::forward<V>(updates), {}, name, where); \
  }
PINION_SCATTER(scatter_nd_update)
PINION_SCATTER(scatter_nd_add)
PINION_SCATTER(scatter_nd_sub)
#undef PINION_SCATTER

}}  // namespace pinion::v0
