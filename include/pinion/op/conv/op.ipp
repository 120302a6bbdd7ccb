// Bodies of <pinion/op/conv/op.hpp>.
#pragma once

#include <algorithm>
#include <string>

#include <pinion/op/conv/op.hpp>
#include <pinion/opkit/gradient_context.hpp>
#include <pinion/opkit/shape_context.hpp>
#include <pinion/opkit/work_context.hpp>

namespace pinion { inline namespace v0 { namespace op { namespace detail {

PINION_DECL void expect_images(const shape_context& c, int i, std::string_view what) {
  if (!dtypes::floating.has(c.dtype(i)))
    c.fail(std::string(what) + " of " + c.op() + " are float or double, not " + std::string(to_string(c.dtype(i))));
  c.expect_same_dtype(i);
  c.expect_rank(i, 4, what);
}

PINION_DECL attributes window_of(const attributes& attrs) {
  attributes same;
  for (const auto& [name, value] : attrs)
    if (name == "strides" || name == "dilations" || name == "padding" || name == "window" || name == "ceil_mode" ||
        name == "compute")
      same.set(name, value);
  return same;
}

// Channels of images and of filters fit if they are equal, or if the filters' divide the images' and give a number of
// groups that divides the outputs.
inline void expect_groups(const shape& images, const shape& filters) {
  const std::int64_t all = axis_extent(images, 3), each = axis_extent(filters, 2), outputs = axis_extent(filters, 3);
  if (all < 0 || each < 0 || all == each) return;
  const std::int64_t groups = each > 0 && all % each == 0 ? all / each : 0;
  if (groups == 0 || (outputs >= 0 && outputs % groups != 0))
    throw error(errc::invalid_argument, "images of shape " + to_string(images) + " have " + std::to_string(all) +
                                            " channels, but filters of shape " + to_string(filters) + " take " +
                                            std::to_string(each));
}

PINION_DECL shape convolved(const attributes& attrs, const shape& images, const shape& filters) {
  expect_groups(images, filters);
  const std::int64_t h = axis_extent(filters, 0), w = axis_extent(filters, 1);
  if (h == 0 || w == 0) throw error(errc::invalid_argument, "filters of shape " + to_string(filters));
  const window over(attrs, h < 0 ? 1 : h, w < 0 ? 1 : w);
  shape y = over.over(images, axis_extent(filters, 3));
  const bool depends = attrs.get_or("padding", std::string("VALID")) == "VALID";
  if (depends && h < 0) y.set(1, unknown);
  if (depends && w < 0) y.set(2, unknown);
  return y;
}

// The extent of images along an axis of a transposed convolution. It is unknown where one of the others is.
inline std::int64_t transposed_extent(const window_axis& of, std::int64_t windows, bool is_known) {
  if (windows < 0 || !is_known) return unknown;
  if (windows > (std::int64_t{1} << 60) / of.stride)
    throw error(errc::resource_exhausted,
                "a transposed convolution of " + std::to_string(windows) + " rows reaches further than any image");
  return windows * of.stride + (of.same ? 0 : std::max<std::int64_t>(of.reach() - of.stride, 0));
}

// The attribute "sizes", or nothing where the sizes follow from strides.
inline integers sizes_of(const attributes& attrs) {
  const integers sizes = attrs.get_or("sizes", integers{});
  const auto is_extent = [](std::int64_t n) { return n >= 0 && n <= std::int64_t{1} << 40; };
  if (!sizes.empty() && (sizes.size() != 2 || !is_extent(sizes[0]) || !is_extent(sizes[1])))
    throw error(errc::invalid_argument,
                "the sizes of a transposed convolution are its height and its width, from 0 up to 2^40");
  return sizes;
}

PINION_DECL shape transposed(const attributes& attrs, const shape& dy, const shape& filters) {
  const std::int64_t h = axis_extent(filters, 0), w = axis_extent(filters, 1);
  if (h == 0 || w == 0) throw error(errc::invalid_argument, "filters of shape " + to_string(filters));
  const window over(attrs, h < 0 ? 1 : h, w < 0 ? 1 : w);
  integers sizes = sizes_of(attrs);
  const auto along = [&](const window_axis& of, std::int64_t places, int axis) {
    return transposed_extent(of, axis_extent(dy, axis), of.same || places >= 0);
  };
  if (sizes.empty()) sizes = {along(over.height, h, 1), along(over.width, w, 2)};
  const shape images{axis_extent(dy, 0), sizes[0], sizes[1], axis_extent(filters, 2)};
  if (!fits(dy, convolved(attrs, images, filters)))
    throw error(errc::invalid_argument,
                "a transposed convolution of shape " + to_string(dy) + " and filters of shape " + to_string(filters) +
                    " does not yield images of shape " + to_string(images) + ": their convolution is one of shape " +
                    to_string(convolved(attrs, images, filters)));
  return images;
}

PINION_DECL double convolution_work(const work_context& c, const shape& windows, const shape& filters) {
  return 2 * c.count(windows) * c.extent(filters, 0) * c.extent(filters, 1) * c.extent(filters, 2);
}

}}}}  // namespace pinion::v0::op::detail

namespace pinion { inline namespace v0 { namespace op {

PINION_DECL void conv2d::infer(shape_context& c) {
  expect_compute(c);
  detail::expect_images(c, 0, "the images");
  detail::expect_images(c, 1, "the filters");
  c.output(c.dtype(0), detail::convolved(c.attrs(), c.shape(0), c.shape(1)));
}

PINION_DECL double conv2d::work(const work_context& c) {
  return detail::convolution_work(c, c.output(0).shape, c.input(1).shape);
}

PINION_DECL void conv2d_backprop_input::infer(shape_context& c) {
  expect_compute(c);
  for (int i = 0; i < c.inputs(); ++i) detail::expect_images(c, i, i == 1 ? "the filters" : "the images");
  if (c.inputs() == 2) return c.output(c.dtype(0), detail::transposed(c.attrs(), c.shape(0), c.shape(1)));
  if (c.attrs().has("sizes")) c.fail("the images of a Conv2DBackpropInput tell its sizes, so it has no such attribute");
  if (!fits(c.shape(0), detail::convolved(c.attrs(), c.shape(2), c.shape(1))))
    c.fail("a gradient of shape " + to_string(c.shape(0)) + " does not fit images of shape " + to_string(c.shape(2)) +
           " and filters of shape " + to_string(c.shape(1)));
  c.output(c.dtype(0), c.shape(2));
}

PINION_DECL double conv2d_backprop_input::work(const work_context& c) {
  return detail::convolution_work(c, c.input(0).shape, c.input(1).shape);
}

PINION_DECL void conv2d_backprop_filter::infer(shape_context& c) {
  expect_compute(c);
  for (int i : {0, 1, 2}) detail::expect_images(c, i, i == 2 ? "the filters" : "the images");
  if (!fits(c.shape(1), detail::convolved(c.attrs(), c.shape(0), c.shape(2))))
    c.fail("a gradient of shape " + to_string(c.shape(1)) + " does not fit images of shape " + to_string(c.shape(0)) +
           " and filters of shape " + to_string(c.shape(2)));
  c.output(c.dtype(0), c.shape(2));
}

PINION_DECL double conv2d_backprop_filter::work(const work_context& c) {
  return detail::convolution_work(c, c.input(1).shape, c.output(0).shape);
}

PINION_DECL void conv2d::gradient(gradient_context& g) {
  const attributes attrs = detail::window_of(g.attrs());
  g.set(0, g.make(conv2d_backprop_input::name, {g.output_gradient(0), g.input(1), g.input(0)}, attrs));
  g.set(1, g.make(conv2d_backprop_filter::name, {g.input(0), g.output_gradient(0), g.input(1)}, attrs));
}

// Convolution is linear in both operands, so the gradients of its gradients are convolutions again.
PINION_DECL void conv2d_backprop_input::gradient(gradient_context& g) {
  const attributes window = detail::window_of(g.attrs());
  g.set(0, g.make(conv2d::name, {g.output_gradient(0), g.input(1)}, window));
  g.set(1, g.make(conv2d_backprop_filter::name, {g.output_gradient(0), g.input(0), g.input(1)}, window));
}

PINION_DECL void conv2d_backprop_filter::gradient(gradient_context& g) {
  const attributes attrs = detail::window_of(g.attrs());
  g.set(0, g.make(conv2d_backprop_input::name, {g.input(1), g.output_gradient(0), g.input(0)}, attrs));
  g.set(1, g.make(conv2d::name, {g.input(0), g.output_gradient(0)}, attrs));
}

PINION_DECL window pooling::window_of(const attributes& of) {
  const auto& extents = of.get<integers>("window");
  const auto fits_an_image = [](std::int64_t n) { return n >= 1 && n <= 1 << 20; };
  if (extents.size() != 2 || !fits_an_image(extents[0]) || !fits_an_image(extents[1]))
    throw error(errc::invalid_argument, "the window of a pooling is two numbers from 1 on");
  return window(of, extents[0], extents[1]);
}

PINION_DECL shape pooling::pooled(const attributes& of, const shape& images) {
  return window_of(of).over(images, detail::axis_extent(images, 3));
}

PINION_DECL double pooling::work_of(const work_context& c, const shape& windows) {
  const window over = window_of(c.attrs());
  const shape& images = c.input(0).shape;
  const auto inside = [&](const window_axis& of, int axis) {
    return std::min(static_cast<double>(of.extent), std::max(1.0, c.extent(images, axis)));
  };
  return c.count(windows) * inside(over.height, 1) * inside(over.width, 2);
}

PINION_DECL void max_pool::infer(shape_context& c) {
  detail::expect_images(c, 0, "the images");
  c.output(c.dtype(0), pooled(c.attrs(), c.shape(0)));
}

PINION_DECL double max_pool::work(const work_context& c) {
  return work_of(c, c.output(0).shape);
}

PINION_DECL void max_pool::gradient(gradient_context& g) {
  g.set(0, g.make(max_pool_grad::name, {g.input(0), g.output_gradient(0)}, detail::window_of(g.attrs())));
}

PINION_DECL void max_pool_grad::infer(shape_context& c) {
  for (int i : {0, 1}) detail::expect_images(c, i, "the images");
  if (!fits(c.shape(1), pooled(c.attrs(), c.shape(0))))
    c.fail("a gradient of shape " + to_string(c.shape(1)) + " does not fit the windows of images of shape " +
           to_string(c.shape(0)));
  c.output(c.dtype(0), c.shape(0));
}

PINION_DECL double max_pool_grad::work(const work_context& c) {
  return work_of(c, c.input(1).shape);
}

PINION_DECL void max_pool_grad::gradient(gradient_context& g) {
  g.set(1, g.make(max_pool_grad_grad::name, {g.input(0), g.output_gradient(0)}, detail::window_of(g.attrs())));
}

PINION_DECL void max_pool_grad_grad::infer(shape_context& c) {
  for (int i : {0, 1}) detail::expect_images(c, i, "the images");
  if (!fits(c.shape(1), c.shape(0)))
    c.fail("values of shape " + to_string(c.shape(1)) + " for images of shape " + to_string(c.shape(0)));
  c.output(c.dtype(0), pooled(c.attrs(), c.shape(0)));
}

PINION_DECL double max_pool_grad_grad::work(const work_context& c) {
  return work_of(c, c.output(0).shape);
}

PINION_DECL void max_pool_grad_grad::gradient(gradient_context& g) {
  g.set(1, g.make(max_pool_grad::name, {g.input(0), g.output_gradient(0)}, detail::window_of(g.attrs())));
}

PINION_DECL void avg_pool::infer(shape_context& c) {
  max_pool::infer(c);
}

PINION_DECL double avg_pool::work(const work_context& c) {
  return work_of(c, c.output(0).shape);
}

PINION_DECL void avg_pool::gradient(gradient_context& g) {
  g.set(0, g.make(avg_pool_grad::name, {g.input(0), g.output_gradient(0)}, detail::window_of(g.attrs())));
}

PINION_DECL void avg_pool_grad::infer(shape_context& c) {
  max_pool_grad::infer(c);
}

PINION_DECL double avg_pool_grad::work(const work_context& c) {
  return work_of(c, c.input(1).shape);
}

PINION_DECL void avg_pool_grad::gradient(gradient_context& g) {
  g.set(1, g.make(avg_pool::name, {g.output_gradient(0)}, detail::window_of(g.attrs())));
}

}}}  // namespace pinion::v0::op
