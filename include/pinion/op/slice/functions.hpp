// Cutting, joining, padding and repeating tensors.
//
//   auto both = pn::concat({a, b}, 1);                  // [n, 2], [n, 3] -> [n, 5]
//   auto [left, right] = pn::split<2>(x, 1);            // [n, 4] -> [n, 2], [n, 2]
//   auto head = pn::slice(x, {0, 0}, {10, -1});         // the first ten rows
//
// Any dtype, but pad with a constant takes no text; differentiable in float and double. Every function throws
// invalid_argument where shapes, axes and sizes do not fit, as far as shapes are known; the step fails otherwise. A
// negative axis counts from the last one.
#pragma once

#include <array>
#include <cstddef>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/dsl/node_call.hpp>
#include <pinion/op/layout/functions.hpp>
#include <pinion/op/slice/op.hpp>
#include <pinion/op/source/functions.hpp>

namespace pinion { inline namespace v0 {

namespace dsl {
// concatenated and stacked throw invalid_argument for an empty list. They throw invalid_argument too where the parts
// belong to several graphs.
any_expr concatenated(const std::vector<any_expr>& parts, std::int64_t axis, std::string_view name,
                      source_location where);
any_expr stacked(const std::vector<any_expr>& parts, std::int64_t axis, std::string_view name, source_location where);

// The axis of a tensor, counted from the front. Throws invalid_argument for one that it does not have, and where its
// rank is not known.
std::int64_t axis_to_repeat(const shape& x, std::int64_t axis);

template <element T>
using concat_expr = expr<T, made_by<op::concat>>;
}  // namespace dsl

// Joins tensors along an existing axis: concat({a, b}, 1). They have one dtype, and agree in the other extents. Parts
// without elements must fit as well. The gradient is cut into the parts again. A vector of one part gives that part.
// The braces take expressions and variables of one dtype: concat({W1, W2}, 0) reads both.
//
//   std::vector<pn::expr<float>> parts{a, b};
//   auto rows = pn::concat(parts);                        // [2, 3], [5, 3] -> [7, 3]
template <element T>
auto concat(const std::vector<expr<T>>& parts, std::int64_t axis = 0, std::string_view name = {},
            source_location where = source_location::current()) {
  return dsl::as_typed<dsl::concat_expr<T>>(dsl::concatenated({parts.begin(), parts.end()}, axis, name, where));
}
// Joins tensors of one shape along a new axis: stack({a, b}) of two [3] is [2, 3]. The axis is one of the result, from
// -rank - 1 up to rank of a part. Parts of several shapes throw invalid_argument.
//
//   auto pairs = pn::stack({x, y}, 1);                    // [n], [n] -> [n, 2]
template <element T>
auto stack(const std::vector<expr<T>>& parts, std::int64_t axis = 0, std::string_view name = {},
           source_location where = source_location::current()) {
  return dsl::as_typed<dsl::concat_expr<T>>(dsl::stacked({parts.begin(), parts.end()}, axis, name, where));
}
// A template cannot deduce the dtype of a list in braces, so there is an overload for each dtype.
#define PINION_LIST(T)                                                                                                \
  dsl::concat_expr<T> concat(std::initializer_list<expr<T>> parts, std::int64_t axis = 0, std::string_view name = {}, \
                             source_location where = source_location::current());                                     \
  dsl::concat_expr<T> stack(std::initializer_list<expr<T>> parts, std::int64_t axis = 0, std::string_view name = {},  \
                            source_location where = source_location::current());
PINION_EACH_ELEMENT(PINION_LIST)
#undef PINION_LIST

// Cuts a tensor along an axis into equal parts: auto [p, q] = split<2>(x, axis). The number of parts belongs to the
// type, so the result is an array that structured bindings take apart. The extent must be a multiple of it:
// invalid_argument where the shape is known, and the step fails with that code otherwise. For parts of other sizes, use
// slice once for each.
//
//   auto [i, f, g, o] = pn::split<4>(gates, 1);           // [n, 4 u] -> four times [n, u]
template <std::size_t Parts, dsl::graph_operand A>
std::array<expr<dsl::value_of<A>>, Parts> split(A&& x, std::int64_t axis = 0, std::string_view name = {},
                                                source_location where = source_location::current()) {
  static_assert(Parts > 0, "a tensor is cut into one part at least");
  using T = dsl::value_of<A>;
  const auto first = dsl::node_call<op::split, T>(name.empty() ? "split" : name, where,
                                                  {{"axis", axis}, {"parts", std::int64_t{Parts}}}, std::forward<A>(x));
  std::array<expr<T>, Parts> parts;
  graph& g = first.owner();
  for (std::size_t i = 0; i < Parts; ++i) parts[i] = expr<T>(g, {first.id(g), static_cast<int>(i)});
  return parts;
}
// The box of x that starts at `begin` and has extents `size`, one number for each axis. A size of -1 extends to the
// end. `begin` counts from 0, and does not count from the end. A box that reaches over the edge throws
// invalid_argument; none is cut off. The gradient is zero outside the box.
//
//   auto column = pn::slice(x, {0, 2}, {-1, 1});          // [n, 5] -> [n, 1]
template <dsl::graph_operand A>
auto slice(A&& x, const integers& begin, const integers& size, std::string_view name = {},
           source_location where = source_location::current()) {
  return dsl::node_call<op::slice, dsl::value_of<A>>(name, where, {{"begin", begin}, {"size", size}},
                                                     std::forward<A>(x));
}

// Where pad takes new elements from: a constant; x itself, in both modes in the other order from the edge on, which
// reflect does not repeat and symmetric does; or the edge alone. Of {1, 2, 3}, two elements before it are
//   constant    0, 0        reflect    3, 2        symmetric    2, 1        edge    1, 1
enum class pad_mode { constant, reflect, symmetric, edge };

namespace dsl {
// TensorFlow's word for a mode that repeats elements.
inline std::string mode_name(pad_mode mode) {
  return mode == pad_mode::reflect ? "REFLECT" : mode == pad_mode::symmetric ? "SYMMETRIC" : "EDGE";
}
}  // namespace dsl

// Options of pad. A constant is converted to the dtype of x; other modes do not read it.
struct pad_options {
  double value = 0;
  pad_mode mode = pad_mode::constant;
  std::string_view name = {};
};
// Adds elements around x: `around` has {before, after} for each axis. pad(x, {{1, 1}, {0, 0}}) adds a row above and one
// below. Throws invalid_argument unless there is one pair for each axis, of numbers from 0 on; and where a mode repeats
// more elements than an axis has: reflect has one less than its extent, symmetric all, and edge needs one. The gradient
// is the box of dy at the place of x, to which the gradients of repeated elements are added. Modes other than constant
// take texts too, and run on CPUs. TensorFlow: tf.pad with mode CONSTANT, REFLECT or SYMMETRIC.
template <dsl::graph_operand A>
expr<dsl::value_of<A>> pad(A&& x, const std::vector<std::pair<std::int64_t, std::int64_t>>& around,
                           const pad_options& options = {}, source_location where = source_location::current()) {
  using T = dsl::value_of<A>;
  integers before, after;
  for (const auto& [b, a] : around) before.push_back(b), after.push_back(a);
  if (options.mode == pad_mode::constant)
    return dsl::node_call<op::pad, T>(
        options.name, where, {{"before", before}, {"after", after}, {"value", options.value}}, std::forward<A>(x));
  return dsl::node_call<op::mirror_pad, T>(
      options.name, where, {{"before", before}, {"after", after}, {"mode", dsl::mode_name(options.mode)}},
      std::forward<A>(x));
}
// Repeats x along each axis: tile(x, {2, 1}) of [m, n] is [2 m, n]. Throws invalid_argument unless there is one number,
// from 0 on, for each axis. A multiple of 0 leaves no elements. The gradient of an element is the sum over its copies.
// An operand of arithmetic broadcasts by itself and needs no tile.
//
//   auto rows = pn::tile(pn::expand_dims(v, 0), {4, 1});  // [k] -> [4, k]
template <dsl::graph_operand A>
auto tile(A&& x, const integers& multiples, std::string_view name = {},
          source_location where = source_location::current()) {
  return dsl::node_call<op::tile, dsl::value_of<A>>(name, where, {{"multiples", multiples}}, std::forward<A>(x));
}
// Options of repeat. Without an axis x is a vector of all its elements.
struct repeat_options {
  std::optional<std::int64_t> axis = {};
  std::string_view name = {};
};
// Repeats each element of x along an axis, beside itself: repeat(x, 2, {.axis = 0}) of rows a, b is a, a, b, b, where
// tile gives a, b, a, b. The gradient of an element is the sum over its copies. Throws invalid_argument for a negative
// number of times, an axis that x does not have, and an x of unknown rank. TensorFlow: tf.repeat with one number.
template <dsl::graph_operand A>
expr<dsl::value_of<A>> repeat(A&& x, std::int64_t times, const repeat_options& options = {},
                              source_location where = source_location::current()) {
  using T = dsl::value_of<A>;
  const expr<T> all = options.axis ? expr<T>(x) : expr<T>(reshape(x, {-1}, {}, where));
  const std::int64_t axis = dsl::axis_to_repeat(all.shape(), options.axis.value_or(0));
  integers multiples(static_cast<std::size_t>(all.shape().rank()) + 1, 1);
  multiples[static_cast<std::size_t>(axis) + 1] = times;
  const expr<T> copies = tile(expand_dims(all, axis + 1, {}, where), multiples, {}, where);
  const auto both = constant(tensor<int>({1, 1}), {}, where);  // as many axes as are merged
  return dsl::node_call<op::merge_axes, T>(options.name.empty() ? "repeat" : options.name, where, {{"axis", axis}},
                                           copies, both);
}

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/op/slice/functions.ipp>
#endif
