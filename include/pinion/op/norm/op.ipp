// Bodies of <pinion/op/norm/op.hpp>.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <pinion/op/elementwise/formula.hpp>
#include <pinion/op/elementwise/functions.hpp>
#include <pinion/op/norm/op.hpp>
#include <pinion/op/reduce/functions.hpp>
#include <pinion/opkit/gradient_context.hpp>
#include <pinion/opkit/shape_context.hpp>
#include <pinion/opkit/work_context.hpp>

namespace pinion { inline namespace v0 { namespace op { namespace detail { namespace norm {

inline void expect_floating(const shape_context& c) {
  for (int i = 0; i < c.inputs(); ++i) {
    if (!dtypes::floating.has(c.dtype(i)))
      c.fail(c.op() + " of " + std::string(to_string(c.dtype(i))) + " is not defined; it takes float or double");
    if (c.dtype(i) != c.dtype(0))
      c.fail(c.op() + " of " + std::string(to_string(c.dtype(0))) + " and " + std::string(to_string(c.dtype(i))) +
             "; pn::cast converts one of them");
  }
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

// The mean of each row of the last axes.
template <class T>
expr<T> mean_of_rows(const expr<T>& x, int axes) {
  axis_list rows;
  rows.all = false;
  for (int axis = 1; axis <= axes; ++axis) rows.axes.push_back(-axis);
  return pinion::reduce_mean(x, {.axes = rows, .keep_dims = true});
}

// The number of axes of a row. Fails where the rank of gamma is unknown.
inline int row_axes(gradient_context& c, output gamma) {
  const shape& of = c.type_of(gamma).shape;
  if (!of.has_rank()) c.fail("gamma is of unknown rank; this gradient needs the axes that are normalised");
  return of.rank();
}

// Where statistics are differentiated: the gradient of x by nodes of other ops.
template <class T>
output gradient_of_statistics(gradient_context& c, bool centered) {
  graph& g = c.owner();
  const int axes = row_axes(c, c.input(1));
  const expr<T> x(g, c.input(0));
  const expr<T> mean = mean_of_rows<T>(x, axes), moved = centered ? expr<T>(x - mean) : x;
  const expr<T> variance = mean_of_rows<T>(pinion::square(moved), axes);
  const expr<T> inverse = T(1) / pinion::sqrt(variance + static_cast<T>(c.attrs().get<double>("epsilon")));
  std::vector<output> ys{inverse.endpoint(g)}, dys{c.output_gradient(centered ? 2 : 1)};
  if (centered) ys.push_back(mean.endpoint(g)), dys.push_back(c.output_gradient(1));
  return c.differentiate({g, ys, dys, {c.input(0)}, {}})[0]->dense;
}

// Sets the gradients of x, gamma and beta of a norm: those of y by one node.
inline void set_gradients(gradient_context& c, std::string_view of_y, bool centered) {
  const bool has_statistics = c.has_output_gradient(1) || (centered && c.has_output_gradient(2));
  const output x = c.input(0);
  std::vector<output> parts;
  if (c.has_output_gradient(0)) {
    std::vector<output> inputs{c.output_gradient(0), x, c.input(1), c.output(1)};
    if (centered) inputs.push_back(c.output(2));
    const output made = c.make(of_y, std::move(inputs));
    parts.push_back(made);
    for (int i = 1; i < (centered ? 3 : 2); ++i) c.set(i, {made.node, i});
  }
  if (has_statistics)
    parts.push_back(visit_plain<dtypes::floating>(c.type_of(x).dtype,
                                                  [&]<class T>() { return gradient_of_statistics<T>(c, centered); }));
  if (parts.size() == 2)
    c.set(0, elementwise<add>(
                 c, [](auto a, auto b) { return a + b; }, parts[0], parts[1]));
  else if (parts.size() == 1)
    c.set(0, parts[0]);
}

// The outputs of the gradient of a norm, of its inputs, by nodes of other ops.
template <class T>
std::vector<output> gradients_by_nodes(gradient_context& c, bool centered) {
  graph& g = c.owner();
  const int axes = row_axes(c, c.input(2));
  const expr<T> dy(g, c.input(0)), x(g, c.input(1)), gamma(g, c.input(2)), inverse(g, c.input(centered ? 4 : 3));
  const expr<T> slope = dy * gamma,
                unit = centered ? expr<T>((x - expr<T>(g, c.input(3))) * inverse) : expr<T>(x * inverse);
  const expr<T> along = slope - unit * mean_of_rows<T>(slope * unit, axes);
  const expr<T> dx = centered ? expr<T>((along - mean_of_rows<T>(slope, axes)) * inverse) : expr<T>(along * inverse);
  std::vector<output> all{dx.endpoint(g), sum_like(c, c.input(2), (dy * unit).endpoint(g))};
  if (centered) all.push_back(sum_like(c, c.input(2), c.input(0)));
  return all;
}

// Sets the gradients of all inputs of the gradient of a norm.
inline void set_second_gradients(gradient_context& c, bool centered) {
  const auto all = visit_plain<dtypes::floating>(c.type_of(c.input(0)).dtype,
                                                 [&]<class T>() { return gradients_by_nodes<T>(c, centered); });
  std::vector<output> ys, dys;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (c.has_output_gradient(static_cast<int>(i)))
      ys.push_back(all[i]), dys.push_back(c.output_gradient(static_cast<int>(i)));
  const auto inputs = c.node().inputs;
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
