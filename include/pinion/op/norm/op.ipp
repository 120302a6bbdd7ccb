// Bodies of <pinion/op/norm/op.hpp>.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

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
  if (!of.has_rank()) c.fail(std::string(what) + " of unknown rank; its axes are those that are normalised");
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
inline shape statistics_of(const shape& x, int row_axes) {
  shape of = x;
  if (x.has_rank())
    for (int axis = x.rank() - row_axes; axis < x.rank(); ++axis) of.set(axis, 1);
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
  for (int i = 3; i < c.inputs(); ++i) expect_shape(c, i, statistics_of(x, c.shape(2).rank()), "statistics");
  c.output(c.dtype(0), x);
  c.output(c.dtype(0), c.shape(2));
}

// What rows are normalised to, and their statistics, by nodes of other ops: where a gradient is differentiated again.
struct norm_by_nodes {
  output y, mean, inverse;

  template <class T>
  static norm_by_nodes of(graph& g, output x, output gamma, output beta, double epsilon, bool centered) {
    const expr<T> scale(g, gamma), first(g, x);
    axis_list rows;
    rows.all = false;
    for (int axis = 1; axis <= g.type_of(gamma).shape.rank(); ++axis) rows.axes.push_back(-axis);
    const auto mean_of = [&](const expr<T>& v) {
      return expr<T>(pinion::reduce_mean(v, {.axes = rows, .keep_dims = true}));
    };
    const expr<T> mean = centered ? mean_of(first) : first;  // which nobody reads then
    const expr<T> moved = centered ? expr<T>(first - mean) : first;
    const expr<T> inverse = T(1) / pinion::sqrt(mean_of(pinion::square(moved)) + static_cast<T>(epsilon));
    const expr<T> y = moved * inverse * scale + expr<T>(g, beta);
    return {y.endpoint(g), mean.endpoint(g), inverse.endpoint(g)};
  }
};
inline norm_by_nodes by_nodes(gradient_context& c, output x, output gamma, output beta, bool centered) {
  const auto epsilon = c.attrs().get<double>("epsilon");
  return visit_plain<dtypes::floating>(c.type_of(x).dtype, [&]<class T>() {
    return norm_by_nodes::of<T>(c.owner(), x, gamma, beta, epsilon, centered);
  });
}

inline void set_all(gradient_context& c, int first, const std::vector<std::optional<gradient_value>>& gradients) {
  for (std::size_t i = 0; i < gradients.size(); ++i)
    if (gradients[i]) c.set(first + static_cast<int>(i), gradients[i]->dense);
}

// Sets the gradients of x, gamma and beta of a norm: those of y by one node, those of the statistics, which the library
// itself does not ask for, by those of other ops.
inline void set_gradients(gradient_context& c, std::string_view of_y, bool centered) {
  const int statistics = c.node().outputs.size() == 3 ? 2 : 1;
  bool any = false;
  for (int i = 1; i <= statistics; ++i) any = any || c.has_output_gradient(i);
  const output x = c.input(0), gamma = c.input(1);
  if (any) {
    const output beta = centered ? c.input(2) : c.make("ZerosLike", {gamma});
    const norm_by_nodes nodes = by_nodes(c, x, gamma, beta, centered);
    std::vector<output> ys{nodes.y}, dys{c.output_gradient(0)}, xs{x, gamma};
    if (centered) ys.push_back(nodes.mean), dys.push_back(c.output_gradient(1)), xs.push_back(beta);
    ys.push_back(nodes.inverse), dys.push_back(c.output_gradient(statistics));
    return set_all(c, 0, c.differentiate({c.owner(), ys, dys, xs, {}}));
  }
  std::vector<output> inputs{c.output_gradient(0), x, gamma};
  for (int i = 1; i <= statistics; ++i) inputs.push_back(c.output(i));
  const output dx = c.make(of_y, std::move(inputs), {{"epsilon", c.attrs().get<double>("epsilon")}});
  for (int i = 0; i < (centered ? 3 : 2); ++i) c.set(i, {dx.node, i});
}

// Sets the gradients of dy, x and gamma where the gradient of a norm is differentiated. Statistics have none, since
// they follow from x: that of x has their part.
inline void set_second_gradients(gradient_context& c, bool centered) {
  const output dy = c.input(0), x = c.input(1), gamma = c.input(2);
  const output beta = c.make("ZerosLike", {gamma});
  const norm_by_nodes nodes = by_nodes(c, x, gamma, beta, centered);
  const auto first = c.differentiate({c.owner(), {nodes.y}, {dy}, {x, gamma, beta}, {}});
  std::vector<output> ys, dys;
  for (int i = 0; i < (centered ? 3 : 2); ++i)
    if (c.has_output_gradient(i)) {
      ys.push_back(first[static_cast<std::size_t>(i)]->dense);
      dys.push_back(c.output_gradient(i));
    }
  set_all(c, 0, c.differentiate({c.owner(), ys, dys, {dy, x, gamma}, {}}));
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
  for (int i = 0; i < 2; ++i) c.output(c.dtype(0), detail::norm::statistics_of(x, c.shape(1).rank()));
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
  c.output(c.dtype(0), detail::norm::statistics_of(c.shape(0), c.shape(1).rank()));
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
