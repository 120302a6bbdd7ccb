// Bodies of <pinion/op/volume/op.hpp>.
#pragma once

#include <string>
#include <string_view>

#include <pinion/op/conv/op.hpp>
#include <pinion/op/volume/geometry.hpp>
#include <pinion/op/volume/op.hpp>
#include <pinion/opkit/gradient_context.hpp>
#include <pinion/opkit/shape_context.hpp>
#include <pinion/opkit/work_context.hpp>

namespace pinion { inline namespace v0 { namespace op { namespace detail { namespace volumes {

inline void expect(const shape_context& c, int i, std::string_view what) {
  if (!dtypes::floating.has(c.dtype(i)))
    c.fail(std::string(what) + " of " + c.op() + " are float or double, not " + std::string(to_string(c.dtype(i))));
  c.expect_same_dtype(i);
  c.expect_rank(i, 5, what);
}

// Checks the gradient of a convolution at input dy, and yields input `result`.
inline void infer_gradient(shape_context& c, int dy, int images, int filters, int result) {
  for (int i : {0, 1, 2}) expect(c, i, i == filters ? "the filters" : "the volumes");
  if (!fits(c.shape(dy), convolved_volumes(c.attrs(), c.shape(images), c.shape(filters))))
    c.fail("a gradient of shape " + to_string(c.shape(dy)) + " does not fit volumes of shape " +
           to_string(c.shape(images)) + " and filters of shape " + to_string(c.shape(filters)));
  c.output(c.dtype(0), c.shape(result));
}

inline void infer_pool(shape_context& c) {
  expect(c, 0, "the volumes");
  c.output(c.dtype(0), pooled_volumes(c.attrs(), c.shape(0)));
}

inline void infer_pool_gradient(shape_context& c) {
  for (int i : {0, 1}) expect(c, i, "the volumes");
  if (!fits(c.shape(1), pooled_volumes(c.attrs(), c.shape(0))))
    c.fail("a gradient of shape " + to_string(c.shape(1)) + " does not fit the windows of volumes of shape " +
           to_string(c.shape(0)));
  c.output(c.dtype(0), c.shape(0));
}

inline double convolution_work(const work_context& c, const shape& windows, const shape& filters) {
  double each = 2;
  for (int axis = 0; axis < 4; ++axis) each *= c.extent(filters, axis);
  return each * c.count(windows);
}

}}}}}  // namespace pinion::v0::op::detail::volumes

namespace pinion { inline namespace v0 { namespace op {

PINION_DECL void conv3d::infer(shape_context& c) {
  detail::volumes::expect(c, 0, "the volumes");
  detail::volumes::expect(c, 1, "the filters");
  c.output(c.dtype(0), detail::convolved_volumes(c.attrs(), c.shape(0), c.shape(1)));
}

PINION_DECL double conv3d::work(const work_context& c) {
  return detail::volumes::convolution_work(c, c.output(0).shape, c.input(1).shape);
}

PINION_DECL void conv3d::gradient(gradient_context& g) {
  const attributes attrs = detail::window_of(g.attrs());
  g.set(0, g.make(conv3d_backprop_input::name, {g.output_gradient(0), g.input(1), g.input(0)}, attrs));
  g.set(1, g.make(conv3d_backprop_filter::name, {g.input(0), g.output_gradient(0), g.input(1)}, attrs));
}

PINION_DECL void conv3d_backprop_input::infer(shape_context& c) {
  detail::volumes::infer_gradient(c, 0, 2, 1, 2);
}

PINION_DECL double conv3d_backprop_input::work(const work_context& c) {
  return detail::volumes::convolution_work(c, c.input(0).shape, c.input(1).shape);
}

// Convolution is linear in both operands, so the gradients of its gradients are convolutions again.
PINION_DECL void conv3d_backprop_input::gradient(gradient_context& g) {
  const attributes attrs = detail::window_of(g.attrs());
  g.set(0, g.make(conv3d::name, {g.output_gradient(0), g.input(1)}, attrs));
  g.set(1, g.make(conv3d_backprop_filter::name, {g.output_gradient(0), g.input(0), g.input(1)}, attrs));
}

PINION_DECL void conv3d_backprop_filter::infer(shape_context& c) {
  detail::volumes::infer_gradient(c, 1, 0, 2, 2);
}

PINION_DECL double conv3d_backprop_filter::work(const work_context& c) {
  return detail::volumes::convolution_work(c, c.input(1).shape, c.output(0).shape);
}

PINION_DECL void conv3d_backprop_filter::gradient(gradient_context& g) {
  const attributes attrs = detail::window_of(g.attrs());
  g.set(0, g.make(conv3d_backprop_input::name, {g.input(1), g.output_gradient(0), g.input(0)}, attrs));
  g.set(1, g.make(conv3d::name, {g.input(0), g.output_gradient(0)}, attrs));
}

PINION_DECL void max_pool3d::infer(shape_context& c) {
  detail::volumes::infer_pool(c);
}

PINION_DECL void max_pool3d::gradient(gradient_context& g) {
  g.set(0, g.make(max_pool3d_grad::name, {g.input(0), g.output_gradient(0)}, detail::window_of(g.attrs())));
}

PINION_DECL void max_pool3d_grad::infer(shape_context& c) {
  detail::volumes::infer_pool_gradient(c);
}

PINION_DECL void max_pool3d_grad::gradient(gradient_context& g) {
  g.set(1, g.make(max_pool3d_grad_grad::name, {g.input(0), g.output_gradient(0)}, detail::window_of(g.attrs())));
}

PINION_DECL void max_pool3d_grad_grad::infer(shape_context& c) {
  for (int i : {0, 1}) detail::volumes::expect(c, i, "the volumes");
  if (!fits(c.shape(1), c.shape(0)))
    c.fail("values of shape " + to_string(c.shape(1)) + " for volumes of shape " + to_string(c.shape(0)));
  c.output(c.dtype(0), detail::pooled_volumes(c.attrs(), c.shape(0)));
}

PINION_DECL void max_pool3d_grad_grad::gradient(gradient_context& g) {
  g.set(1, g.make(max_pool3d_grad::name, {g.input(0), g.output_gradient(0)}, detail::window_of(g.attrs())));
}

PINION_DECL void avg_pool3d::infer(shape_context& c) {
  detail::volumes::infer_pool(c);
}

PINION_DECL void avg_pool3d::gradient(gradient_context& g) {
  g.set(0, g.make(avg_pool3d_grad::name, {g.input(0), g.output_gradient(0)}, detail::window_of(g.attrs())));
}

PINION_DECL void avg_pool3d_grad::infer(shape_context& c) {
  detail::volumes::infer_pool_gradient(c);
}

PINION_DECL void avg_pool3d_grad::gradient(gradient_context& g) {
  g.set(1, g.make(avg_pool3d::name, {g.output_gradient(0)}, detail::window_of(g.attrs())));
}

}}}  // namespace pinion::v0::op
