// Bodies of <pinion/op/order/op.hpp>.
#pragma once

#include <limits>
#include <string>

#include <pinion/op/elementwise/formula.hpp>
#include <pinion/op/elementwise/op.hpp>
#include <pinion/op/gather/op.hpp>
#include <pinion/op/order/op.hpp>
#include <pinion/opkit/axes.hpp>
#include <pinion/opkit/gradient_context.hpp>
#include <pinion/opkit/shape_context.hpp>
#include <pinion/opkit/work_context.hpp>

namespace pinion { inline namespace v0 { namespace op { namespace detail {

PINION_DECL void expect_int32_places(std::int64_t extent) {
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
  if (extent > most)
    throw error(errc::invalid_argument, "an axis of " + std::to_string(extent) + " elements has places that are no " +
                                            "int32; " + std::to_string(most) + " would do");
}

PINION_DECL void expect_elements(std::int64_t k, std::int64_t n) {
  if (k > n)
    throw error(errc::invalid_argument, "the " + std::to_string(k) + " largest of " + std::to_string(n) +
                                            " elements along the last axis; k is at most their number");
}

namespace order {

inline std::int64_t axis_of(const attributes& attrs) {
  return attrs.get<std::int64_t>("axis");
}

// Checks x of an op that works along "axis": its dtype, and that it has the axis.
inline void expect_axis(const shape_context& c, dtype_set types = dtypes::numbers) {
  c.expect_dtype(c.dtype(0), types);
  if (c.shape(0).has_rank()) checked_axis(axis_of(c.attrs()), c.shape(0).rank());
}

// Fails unless indices have the shape of x except for the extent of the axis.
inline void expect_indices_along(const shape_context& c, const shape& x, const shape& indices) {
  if (!x.has_rank()) return;
  const int axis = checked_axis(axis_of(c.attrs()), x.rank());
  const bool fit =
      !indices.has_rank() || (indices.rank() == x.rank() && fits(indices, chosen_along(x, axis, {indices[axis]})));
  if (!fit)
    c.fail("indices of shape " + to_string(indices) + " along axis " + std::to_string(axis) + " of a tensor of shape " +
           to_string(x) + "; they have its extents along the other axes");
}

// The attributes of an op that goes along the axis of this node, in the direction of its own or the other one.
inline attributes same_way(const gradient_context& g) {
  return {{"axis", axis_of(g.attrs())}, {"reverse", g.attrs().get_or("reverse", false)}};
}
inline attributes other_way(const gradient_context& g) {
  return {{"axis", axis_of(g.attrs())}, {"reverse", !g.attrs().get_or("reverse", false)}};
}

}  // namespace order

}}}}  // namespace pinion::v0::op::detail

namespace pinion { inline namespace v0 { namespace op {

PINION_DECL void sort::infer(shape_context& c) {
  detail::order::expect_axis(c);
  c.output(c.dtype(0), c.shape(0));
}

PINION_DECL void sort::gradient(gradient_context& g) {
  if (!is_floating(g.type_of(g.output(0)).dtype)) return;
  const output places = g.make(arg_sort::name, {g.input(0)}, g.attrs());
  g.set(0, g.make(add_along_axis::name, {places, g.output_gradient(0), g.input(0)},
                  {{"axis", detail::order::axis_of(g.attrs())}}));
}

PINION_DECL void arg_sort::infer(shape_context& c) {
  detail::order::expect_axis(c);
  const shape& x = c.shape(0);
  if (x.has_rank()) detail::expect_int32_places(x[checked_axis(detail::order::axis_of(c.attrs()), x.rank())]);
  c.output(dtype::int32, x);
}

PINION_DECL void top_k::infer(shape_context& c) {
  c.expect_dtype(c.dtype(0), dtypes::numbers);
  shape y = c.shape(0);
  if (y.has_rank()) {
    if (y.rank() == 0) c.fail("TopKV2 needs an axis to choose along; a scalar has none");
    const auto k = c.attrs().get<std::int64_t>("k");
    const std::int64_t n = y[y.rank() - 1];
    if (n >= 0) detail::expect_elements(k, n), detail::expect_int32_places(n);
    y = detail::chosen_along(y, y.rank() - 1, {k});
  }
  c.output(c.dtype(0), y);
  c.output(dtype::int32, y);
}

PINION_DECL void top_k::gradient(gradient_context& g) {
  if (!is_floating(g.type_of(g.output(0)).dtype) || !g.has_output_gradient(0)) return;
  g.set(0, g.make(add_along_axis::name, {g.output(1), g.output_gradient(0), g.input(0)}, {{"axis", std::int64_t{-1}}}));
}

PINION_DECL double top_k::work(const work_context& c) {
  return c.count(c.input(0).shape);
}

PINION_DECL void cumsum::infer(shape_context& c) {
  detail::order::expect_axis(c);
  c.output(c.dtype(0), c.shape(0));
}

PINION_DECL void cumsum::gradient(gradient_context& g) {
  if (!is_floating(g.type_of(g.output(0)).dtype)) return;
  attributes back = detail::order::other_way(g);
  back.set("exclusive", g.attrs().get_or("exclusive", false));
  g.set(0, g.make(name, {g.output_gradient(0)}, std::move(back)));
}

PINION_DECL void cumprod::infer(shape_context& c) {
  detail::order::expect_axis(c);
  c.output(c.dtype(0), c.shape(0));
}

// dx[j] is the product of all elements before place j, times the sum over the places k behind of dy[k] times the
// product of the elements between j and k. The sum is a linear recurrence from behind. Where y[j] has x[j] as a factor,
// k may be j itself, too.
PINION_DECL void cumprod::gradient(gradient_context& g) {
  if (!is_floating(g.type_of(g.output(0)).dtype)) return;
  const bool exclusive = g.attrs().get_or("exclusive", false);
  const output x = g.input(0), dy = g.output_gradient(0);
  attributes ahead = detail::order::same_way(g);
  const attributes back = detail::order::other_way(g);
  ahead.set("exclusive", true);
  const output before = exclusive ? g.output(0) : g.make(name, {x}, std::move(ahead));
  const output behind = exclusive ? g.make(linear_recurrence::name, {x, dy}, back)
                                  : plus(g, dy, g.make(linear_recurrence::name, {x, times(g, x, dy)}, back));
  g.set(0, times(g, before, behind));
}

PINION_DECL void linear_recurrence::infer(shape_context& c) {
  detail::order::expect_axis(c, dtypes::floating);
  if (c.dtype(1) != c.dtype(0) || !fits(c.shape(1), c.shape(0)))
    c.fail("terms of " + std::string(to_string(c.dtype(1))) + " " + to_string(c.shape(1)) + " and factors of " +
           std::string(to_string(c.dtype(0))) + " " + to_string(c.shape(0)) + " make no recurrence; they are alike");
  c.output(c.dtype(0), c.shape(0));
}

PINION_DECL void linear_recurrence::gradient(gradient_context& g) {
  const output db = g.make(name, {g.input(0), g.output_gradient(0)}, detail::order::other_way(g));
  g.set(1, db);
  if (g.wants(0)) g.set(0, times(g, db, g.output(0)));
}

PINION_DECL void take_along_axis::infer(shape_context& c) {
  detail::order::expect_axis(c);
  detail::expect_row_index(c, 1);
  detail::order::expect_indices_along(c, c.shape(0), c.shape(1));
  c.output(c.dtype(0), c.shape(1));
}

PINION_DECL void take_along_axis::gradient(gradient_context& g) {
  if (!is_floating(g.type_of(g.output(0)).dtype)) return;
  g.set(0, g.make(add_along_axis::name, {g.input(1), g.output_gradient(0), g.input(0)}, g.attrs()));
}

PINION_DECL void add_along_axis::infer(shape_context& c) {
  detail::expect_row_index(c, 0);
  c.expect_dtype(c.dtype(1), dtypes::numbers);
  if (!fits(c.shape(1), c.shape(0)))
    c.fail("rows of shape " + to_string(c.shape(1)) + " at indices of shape " + to_string(c.shape(0)) +
           "; each has its own index");
  detail::order::expect_indices_along(c, c.shape(2), c.shape(0));
  c.output(c.dtype(1), c.shape(2));
}

PINION_DECL void add_along_axis::gradient(gradient_context& g) {
  g.set(1, g.make(take_along_axis::name, {g.output_gradient(0), g.input(0)}, g.attrs()));
}

}}}  // namespace pinion::v0::op
