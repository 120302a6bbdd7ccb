// Bodies of <pinion/op/norm/op.hpp>.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <pinion/op/elementwise/formula.hpp>
#include <pinion/op/elementwise/op.hpp>
#include <pinion/op/norm/op.hpp>
#include <pinion/op/source/op.hpp>
#include <pinion/opkit/gradient_context.hpp>
#include <pinion/opkit/shape_context.hpp>
#include <pinion/opkit/work_context.hpp>

namespace pinion { inline namespace v0 { namespace op { namespace detail { namespace norm {

inline void expect_floating(const shape_context& c) {
  c.expect_dtype(c.dtype(0), dtypes::floating);
  c.expect_one_dtype();
}

// Fails unless input i has the extents of the last axes of x.
inline void expect_last_axes(const shape_context& c, const shape& x, int i, std::string_view what) {
  const shape& of = c.shape(i);
  if (!of.has_rank()) return;
  const auto fits_axis = [&](int axis) {
    const std::int64_t there = x[x.rank() - of.rank() + axis];
    return there < 0 || of[axis] < 0 || there == of[axis];
  };
  bool fit = of.rank() >= 1 && (!x.has_rank() || of.rank() <= x.rank());
  for (int axis = 0; fit && x.has_rank() && axis < of.rank(); ++axis) fit = fits_axis(axis);
  if (!fit)
    c.fail(std::string(what) + " of shape " + to_string(of) + " for x of shape " + to_string(x) +
           "; it has the extents of the last axes, one or more");
}

// The shape of statistics of rows.
inline shape statistics_of(const shape& x, const shape& gamma) {
  if (!x.has_rank() || !gamma.has_rank()) return shape::any();
  shape of = x;
  for (int axis = x.rank() - gamma.rank(); axis < x.rank(); ++axis) of.set(axis, 1);
  return of;
}

inline void expect_shape(const shape_context& c, int i, const shape& wanted, std::string_view what) {
  if (!fits(c.shape(i), wanted))
    c.fail(std::string(what) + " of shape " + to_string(c.shape(i)) + " where " + to_string(wanted) + " fits");
}

// Checks what the gradients take: dy, x, gamma and statistics.
inline void infer_gradient(shape_context& c) {
  expect_floating(c);
  const shape& x = c.shape(1);
  expect_shape(c, 0, x, "dy");
  expect_last_axes(c, x, 2, "gamma");
  for (int i = 3; i < c.inputs(); ++i) expect_shape(c, i, statistics_of(x, c.shape(2)), "statistics");
  c.output(c.dtype(0), x);
  c.output(c.dtype(0), c.shape(2));
}

// ---- gradients by nodes of other ops, for all ranks and extents. Each is of one operation: the library has their
// kernels.

// The number of elements of each row, in the shape of statistics.
inline output count_of_rows(gradient_context& c, output x, output statistics) {
  return sum_like(c, statistics, c.make(ones_like::name, {x}));
}

// The gradient of x where statistics are differentiated: (dmean - dinverse inverse^3 (x - mean)) / n.
inline output gradient_of_statistics(gradient_context& c, bool centered) {
  const output x = c.input(0), inverse = c.output(centered ? 2 : 1), of_inverse = c.output_gradient(centered ? 2 : 1);
  const output moved = centered ? minus(c, x, c.output(1)) : x;
  const output cube = times(c, times(c, inverse, inverse), inverse);
  const output along = times(c, times(c, of_inverse, cube), moved);
  const output n = count_of_rows(c, x, inverse);
  const output of_mean = centered ? c.output_gradient(1) : c.make(zeros_like::name, {inverse});
  return over(c, minus(c, of_mean, along), n);
}

// Sets the gradients of x, gamma and beta of a norm: those of y by one node.
inline void set_gradients(gradient_context& c, std::string_view of_y, bool centered) {
  std::vector<output> parts;
  if (c.has_output_gradient(0)) {
    std::vector<output> inputs{c.output_gradient(0), c.input(0), c.input(1), c.output(1)};
    if (centered) inputs.push_back(c.output(2));
    const output made = c.make(of_y, std::move(inputs));
    parts.push_back(made);
    for (int i = 1; i < (centered ? 3 : 2); ++i) c.set(i, {made.node, i});
  }
  if (c.has_output_gradient(1) || (centered && c.has_output_gradient(2)))
    parts.push_back(gradient_of_statistics(c, centered));
  if (parts.size() == 2)
    c.set(0, plus(c, parts[0], parts[1]));
  else if (parts.size() == 1)
    c.set(0, parts[0]);
}

// The outputs of the gradient of a norm, of its inputs.
inline std::vector<output> gradients_by_nodes(gradient_context& c, const std::vector<output>& inputs, bool centered) {
  const output dy = inputs[0], x = inputs[1], gamma = inputs[2], inverse = inputs.back();
  const output n = count_of_rows(c, x, inverse), slope = times(c, dy, gamma);
  const output unit = times(c, centered ? minus(c, x, inputs[3]) : x, inverse);
  const output along = over(c, sum_like(c, inverse, times(c, slope, unit)), n);
  output rest = minus(c, slope, times(c, unit, along));
  if (centered) rest = minus(c, rest, over(c, sum_like(c, inverse, slope), n));
  std::vector<output> all{times(c, rest, inverse), sum_like(c, gamma, times(c, dy, unit))};
  if (centered) all.push_back(sum_like(c, gamma, dy));
  return all;
}

// Sets the gradients of all inputs of the gradient of a norm. An input may be another one, too, or depend on it, so the
// formula is of a node for each, by which it is differentiated.
inline void set_second_gradients(gradient_context& c, bool centered) {
  std::vector<output> inputs, ys, dys;
  for (int i = 0; i < (centered ? 5 : 4); ++i) inputs.push_back(c.make(identity::name, {c.input(i)}));
  const auto all = gradients_by_nodes(c, inputs, centered);
  for (std::size_t i = 0; i < all.size(); ++i)
    if (c.has_output_gradient(static_cast<int>(i)))
      ys.push_back(all[i]), dys.push_back(c.output_gradient(static_cast<int>(i)));
  const auto found = c.differentiate({c.owner(), ys, dys, inputs, {}});
  for (std::size_t i = 0; i < found.size(); ++i)
    if (found[i]) c.set(static_cast<int>(i), found[i]->dense);
}

}}}}}  // namespace pinion::v0::op::detail::norm

namespace pinion { inline namespace v0 { namespace op {

PINION_DECL double detail::row_norm::work(const work_context& c) {
  return 8 * c.elements();
}

PINION_DECL void layer_norm::infer(shape_context& c) {
  detail::norm::expect_floating(c);
  const shape& x = c.shape(0);
  detail::norm::expect_last_axes(c, x, 1, "gamma");
  detail::norm::expect_shape(c, 2, c.shape(1), "beta");
  c.output(c.dtype(0), x);
  for (int i = 0; i < 2; ++i) c.output(c.dtype(0), detail::norm::statistics_of(x, c.shape(1)));
}

PINION_DECL void layer_norm::gradient(gradient_context& g) {
  detail::norm::set_gradients(g, layer_norm_gradient::name, true);
}

PINION_DECL void layer_norm_gradient::infer(shape_context& c) {
  detail::norm::infer_gradient(c);
  c.output(c.dtype(0), c.shape(2));
}

PINION_DECL void layer_norm_gradient::gradient(gradient_context& g) {
  detail::norm::set_second_gradients(g, true);
}

PINION_DECL void rms_norm::infer(shape_context& c) {
  detail::norm::expect_floating(c);
  detail::norm::expect_last_axes(c, c.shape(0), 1, "gamma");
  c.output(c.dtype(0), c.shape(0));
  c.output(c.dtype(0), detail::norm::statistics_of(c.shape(0), c.shape(1)));
}

PINION_DECL void rms_norm::gradient(gradient_context& g) {
  detail::norm::set_gradients(g, rms_norm_gradient::name, false);
}

PINION_DECL void rms_norm_gradient::infer(shape_context& c) {
  detail::norm::infer_gradient(c);
}

PINION_DECL void rms_norm_gradient::gradient(gradient_context& g) {
  detail::norm::set_second_gradients(g, false);
}

}}}  // namespace pinion::v0::op
