// Shapes, boxes, parts and multiples that are values of the run: the functions of layout, slice, strided and source
// once more, with integer expressions in place of numbers. graph.hpp does not bring this header.
//
//   #include <pinion/op/dynamic/functions.hpp>
//
//   auto like = pn::reshape(x, pn::shape_of(y));                             // x in the shape that y has in the run
//   auto window = pn::slice(x, at, {8, -1});                                 // eight rows from a place that is
//   computed auto [head, tail] = pn::split<2>(x, pn::stack({n, rest}), 0); auto noise = pn::random_normal<float>({64})
//   * pn::fill(pn::shape_of(x), .1f); auto places = pn::range(n);                                              // 0, 1,
//   ..., n - 1
//
// Numbers are vectors of int or std::int64_t, and of one dtype or several. Where they are constants, the extents of
// shape_of, or joins and slices of these, the shape of the result is known when the graph is built, as far as they are,
// and what does not fit throws invalid_argument there; the step fails with that code otherwise. A constant or shape
// that the graph was built by must not be fed with another value.
//
// Any dtype but where said; differentiable in float and double, to any order. Kernels are of CPUs: a node under a
// guard for a GPU computes on the CPU of its task. Numbers that are known when the graph is built belong into the
// functions that take them, which run on GPUs too.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/dsl/node_call.hpp>
#include <pinion/op/dynamic/op.hpp>
#include <pinion/op/elementwise/as_operand.hpp>
#include <pinion/op/slice/functions.hpp>
#include <pinion/op/source/functions.hpp>
#include <pinion/op/strided/functions.hpp>

namespace pinion { inline namespace v0 {

namespace dsl {

template <class N>
concept number_value = std::is_same_v<N, std::int32_t> || std::is_same_v<N, std::int64_t>;

// Refuses numbers of another dtype at compile time.
template <class N>
constexpr void check_numbers() {
  static_assert(number_value<value_of<N>>,
                "extents, places, sizes and multiples are of int or std::int64_t; pn::cast<int> converts");
}

// The number of sizes. Throws invalid_argument where it is not known.
std::int64_t parts_of(const any_expr& sizes);
// The number of axes of a batch, which are those of the indices of batch_gather but the last. Throws invalid_argument
// where it is not known, and for a scalar.
int batch_axes_of(const any_expr& indices);

// The parts that a SplitV yields, as expressions.
template <class T>
std::vector<expr<T>> parts_from(const expr<T>& first, std::int64_t count) {
  std::vector<expr<T>> parts;
  graph& g = first.owner();
  for (std::int64_t i = 0; i < count; ++i) parts.emplace_back(g, output{first.id(g), static_cast<int>(i)});
  return parts;
}

}  // namespace dsl

// The elements of x in the shape `to`, of which one extent may be -1 and then follows from the number of elements.
// Nothing is copied. The gradient has the shape that x has in the run. TensorFlow: tf.reshape.
//
//   auto back = pn::reshape(flat, pn::shape_of(images));
template <dsl::graph_operand A, dsl::graph_operand N>
auto reshape(A&& x, N&& to, std::string_view name = {}, source_location where = source_location::current()) {
  dsl::check_numbers<N>();
  return dsl::node_call<op::dynamic_reshape, dsl::value_of<A>>(name, where, {}, std::forward<A>(x),
                                                               std::forward<N>(to));
}

// x repeated until it has the shape `to`, by the rules of broadcast_to. The gradient of an element is the sum over its
// copies. TensorFlow: tf.broadcast_to.
template <dsl::graph_operand A, dsl::graph_operand N>
auto broadcast_to(A&& x, N&& to, std::string_view name = {}, source_location where = source_location::current()) {
  dsl::check_numbers<N>();
  return dsl::node_call<op::dynamic_broadcast_to, dsl::value_of<A>>(name, where, {}, std::forward<A>(x),
                                                                    std::forward<N>(to));
}

// x repeated `multiples` times along each axis. The gradient of an element is the sum over its copies. TensorFlow:
// tf.tile.
template <dsl::graph_operand A, dsl::graph_operand N>
auto tile(A&& x, N&& multiples, std::string_view name = {}, source_location where = source_location::current()) {
  dsl::check_numbers<N>();
  return dsl::node_call<op::dynamic_tile, dsl::value_of<A>>(name, where, {}, std::forward<A>(x),
                                                            std::forward<N>(multiples));
}

// The box of x that starts at `begin` and has extents `size`, of which -1 extends to the end; one number for each axis.
// Either may be numbers in braces. A box that reaches over the edge fails the step. The gradient is zero outside the
// box. TensorFlow: tf.slice.
//
//   auto window = pn::slice(x, pn::stack({at, pn::constant(0)}), {8, -1});   // rows at, ..., at + 7
template <dsl::graph_operand A, dsl::graph_operand B, dsl::graph_operand S>
auto slice(A&& x, B&& begin, S&& size, std::string_view name = {}, source_location where = source_location::current()) {
  dsl::check_numbers<B>(), dsl::check_numbers<S>();
  return dsl::node_call<op::dynamic_slice, dsl::value_of<A>>(name, where, {}, std::forward<A>(x),
                                                             std::forward<B>(begin), std::forward<S>(size));
}
template <dsl::graph_operand A, dsl::graph_operand B>
auto slice(A&& x, B&& begin, const integers& size, std::string_view name = {},
           source_location where = source_location::current()) {
  const auto sizes = dsl::constant_in<std::int64_t>(dsl::graph_of(x), tensor<std::int64_t>::of(size), where);
  return slice(std::forward<A>(x), std::forward<B>(begin), sizes, name, where);
}
template <dsl::graph_operand A, dsl::graph_operand S>
auto slice(A&& x, const integers& begin, S&& size, std::string_view name = {},
           source_location where = source_location::current()) {
  const auto places = dsl::constant_in<std::int64_t>(dsl::graph_of(x), tensor<std::int64_t>::of(begin), where);
  return slice(std::forward<A>(x), places, std::forward<S>(size), name, where);
}

// The elements begin, begin + stride, ... before end of each axis, with the masks, bounds and errors of strided_slice.
// Without strides all are 1. The gradient is zero where nothing was taken. TensorFlow: tf.strided_slice.
//
//   auto last = pn::strided_slice(x, -n, n, {.end_mask = 1});                // x[-n:], for n of shape [1]
template <dsl::graph_operand A, dsl::graph_operand B, dsl::graph_operand E, dsl::graph_operand S>
auto strided_slice(A&& x, B&& begin, E&& end, S&& strides, const strided_slice_options& options = {},
                   source_location where = source_location::current()) {
  dsl::check_numbers<B>(), dsl::check_numbers<E>(), dsl::check_numbers<S>();
  return dsl::node_call<op::dynamic_strided_slice, dsl::value_of<A>>(options.name, where,
                                                                     {{"begin_mask", options.begin_mask},
                                                                      {"end_mask", options.end_mask},
                                                                      {"ellipsis_mask", options.ellipsis_mask},
                                                                      {"new_axis_mask", options.new_axis_mask},
                                                                      {"shrink_axis_mask", options.shrink_axis_mask}},
                                                                     std::forward<A>(x), std::forward<B>(begin),
                                                                     std::forward<E>(end), std::forward<S>(strides));
}
template <dsl::graph_operand A, dsl::graph_operand B, dsl::graph_operand E>
auto strided_slice(A&& x, B&& begin, E&& end, const strided_slice_options& options = {},
                   source_location where = source_location::current()) {
  const expr<dsl::value_of<B>> first = std::forward<B>(begin);
  return strided_slice(std::forward<A>(x), first, std::forward<E>(end), ones_like(first, {}, where), options, where);
}

// Cuts x along an axis into parts of these sizes, which add up to its extent; one of them may be -1 and is the rest.
// The gradient is joined of those of the parts. The number of parts belongs to the type, or is the extent of `sizes`,
// which must then be known: invalid_argument otherwise. TensorFlow: tf.split, with op SplitV.
//
//   auto [head, tail] = pn::split<2>(x, pn::stack({n, pn::constant(-1)}), 0);   // [m, k] -> [n, k], [m - n, k]
//   std::vector<pn::expr<float>> parts = pn::split(x, pn::constant<int>({2, 3}), 1);
template <std::size_t Parts, dsl::graph_operand A, dsl::graph_operand N>
std::array<expr<dsl::value_of<A>>, Parts> split(A&& x, N&& sizes, std::int64_t axis = 0, std::string_view name = {},
                                                source_location where = source_location::current()) {
  static_assert(Parts > 0, "a tensor is cut into one part at least");
  dsl::check_numbers<N>();
  using T = dsl::value_of<A>;
  const expr<T> first = dsl::node_call<op::split_v, T>(name.empty() ? "split" : name, where,
                                                       {{"axis", axis}, {"num_split", std::int64_t{Parts}}},
                                                       std::forward<A>(x), std::forward<N>(sizes));
  std::array<expr<T>, Parts> parts;
  graph& g = first.owner();
  for (std::size_t i = 0; i < Parts; ++i) parts[i] = expr<T>(g, {first.id(g), static_cast<int>(i)});
  return parts;
}
template <dsl::graph_operand A, dsl::graph_operand N>
std::vector<expr<dsl::value_of<A>>> split(A&& x, N&& sizes, std::int64_t axis = 0, std::string_view name = {},
                                          source_location where = source_location::current()) {
  dsl::check_numbers<N>();
  using T = dsl::value_of<A>;
  const expr<dsl::value_of<N>> all = std::forward<N>(sizes);
  const std::int64_t parts = dsl::parts_of(all);
  const expr<T> first = dsl::node_call<op::split_v, T>(name.empty() ? "split" : name, where,
                                                       {{"axis", axis}, {"num_split", parts}}, std::forward<A>(x), all);
  return dsl::parts_from(first, parts);
}

// A tensor of this shape with one value in every element, made in each run: the value, a number or a scalar expression,
// is broadcast to it. The gradient of the value is the sum of dy. TensorFlow: tf.fill, tf.zeros, tf.ones.
//
//   auto state = pn::zeros<float>(pn::stack({batch, pn::constant(128)}));
template <element T, dsl::graph_operand N>
auto fill(N&& extents, T value, std::string_view name = {}, source_location where = source_location::current()) {
  const auto all = dsl::constant_in<T>(dsl::graph_of(extents), tensor<T>(value), where);
  return broadcast_to(all, std::forward<N>(extents), name.empty() ? op::fill::name : name, where);
}
template <dsl::graph_operand V, dsl::graph_operand N>
auto fill(N&& extents, V&& value, std::string_view name = {}, source_location where = source_location::current()) {
  return broadcast_to(std::forward<V>(value), std::forward<N>(extents), name.empty() ? op::fill::name : name, where);
}
template <element T, dsl::graph_operand N>
auto zeros(N&& extents, std::string_view name = {}, source_location where = source_location::current()) {
  return fill<T>(std::forward<N>(extents), T(), name, where);
}
template <element T, dsl::graph_operand N>
auto ones(N&& extents, std::string_view name = {}, source_location where = source_location::current()) {
  return fill<T>(std::forward<N>(extents), T(1), name, where);
}

// The vector start, start + delta, ... of the numbers before `limit`, by the rules of range: none where delta leads
// away from the limit. Each is a scalar expression or a number, and one at least is an expression. They have one dtype:
// float, double, int or int64. A delta of 0 fails the step. No gradient flows through it. TensorFlow: tf.range.
//
//   auto places = pn::range(0, n, 2);
template <class S, class L, class D>
requires(dsl::operand<S>&& dsl::operand<L>&& dsl::operand<D> &&
         (dsl::graph_operand<S> || dsl::graph_operand<L> || dsl::graph_operand<D>))  //
    auto range(S&& start, L&& limit, D&& delta, std::string_view name = {},
               source_location where = source_location::current()) {
  using T = dsl::common_value<S, L, D>;
  static_assert(op::dynamic_range::types.has(dtype_of<T>), "a range is of float, double, int or int64");
  graph& g = dsl::graph_of(start, limit, delta);
  const expr<T> first = dsl::as_operand<T>(g, where, std::forward<S>(start)),
                end = dsl::as_operand<T>(g, where, std::forward<L>(limit)),
                step = dsl::as_operand<T>(g, where, std::forward<D>(delta));
  return dsl::node_call<op::dynamic_range, T>(name.empty() ? "range" : name, where, {}, first, end, step);
}
template <class S, class L>
requires dsl::operand_pair<S, L>
auto range(S&& start, L&& limit, std::string_view name = {}, source_location where = source_location::current()) {
  return range(std::forward<S>(start), std::forward<L>(limit), 1, name, where);
}
// The vector 0, 1, ... of the numbers before `limit`.
template <dsl::graph_operand L>
auto range(L&& limit, std::string_view name = {}, source_location where = source_location::current()) {
  return range(0, std::forward<L>(limit), 1, name, where);
}

// Options of meshgrid: which of two vectors changes along the last axis. `xy` gives [n, m] of vectors x [m] and y [n],
// and `ij` gives [m, n].
enum class mesh_indexing { xy, ij };
struct meshgrid_options {
  mesh_indexing indexing = mesh_indexing::xy;
  std::string_view name = {};
};
// The coordinates of all points of a grid, of which vectors x [m] and y [n] are the axes: at each point that of x, and
// that of y. The gradient of an element of a vector is the sum over its copies. Throws invalid_argument for operands
// that are no vectors; any dtypes. TensorFlow: tf.meshgrid of two vectors.
//
//   auto [columns, rows] = pn::meshgrid(pn::range(3), pn::range(2));        // {{0, 1, 2}, {0, 1, 2}}, {{0, 0, 0}, {1,
//   1, 1}}
template <dsl::graph_operand X, dsl::graph_operand Y>
std::pair<expr<dsl::value_of<X>>, expr<dsl::value_of<Y>>> meshgrid(X&& x, Y&& y, const meshgrid_options& options = {},
                                                                   source_location where = source_location::current()) {
  const expr<dsl::value_of<X>> across = std::forward<X>(x);
  const expr<dsl::value_of<Y>> down = std::forward<Y>(y);
  const bool is_xy = options.indexing == mesh_indexing::xy;
  const std::vector<expr<int>> extents{shape_of(across, {}, where), shape_of(down, {}, where)};
  const auto grid = concat(is_xy ? std::vector{extents[1], extents[0]} : extents, 0, {}, where);
  const std::string_view name = options.name.empty() ? "meshgrid" : options.name;
  return {broadcast_to(expand_dims(across, is_xy ? 0 : 1, {}, where), grid, name, where),
          broadcast_to(expand_dims(down, is_xy ? 1 : 0, {}, where), grid, name, where)};
}

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/op/dynamic/functions.ipp>
#endif
