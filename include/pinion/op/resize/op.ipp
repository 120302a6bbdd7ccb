// Bodies of <pinion/op/resize/op.hpp>.
#pragma once

#include <string>

#include <pinion/op/resize/op.hpp>
#include <pinion/opkit/gradient_context.hpp>
#include <pinion/opkit/shape_context.hpp>
#include <pinion/opkit/work_context.hpp>

namespace pinion { inline namespace v0 { namespace op { namespace detail {

inline void expect_images_to_resize(const shape_context& c, int i) {
  if (!dtypes::floating.has(c.dtype(i)) || c.dtype(i) != c.dtype(0))
    c.fail(c.op() + " takes images of float or double, not of " + std::string(to_string(c.dtype(i))) +
           "; pn::cast converts them");
  c.expect_rank(i, 4, "the images");
}

}}}}  // namespace pinion::v0::op::detail

namespace pinion { inline namespace v0 { namespace op {

PINION_DECL shape resizing::resized(const attributes& of, const shape& images) {
  const auto& size = of.get<integers>("size");
  if (size.size() != 2)
    throw error(errc::invalid_argument, "the size of a resized image is its height and its width, not " +
                                            std::to_string(size.size()) + " numbers");
  if (of.get_or("align_corners", false) && of.get_or("half_pixel_centers", false))
    throw error(errc::invalid_argument,
                "align_corners puts the first and last pixels onto each other, and half_pixel_centers the edges; both "
                "do not go together");
  if (!images.has_rank()) return {unknown, size[0], size[1], unknown};
  if (images[1] == 0 || images[2] == 0)
    throw error(errc::invalid_argument, "images of shape " + to_string(images) + " have no pixels to resize");
  return {images[0], size[0], size[1], images[3]};
}

PINION_DECL void resizing::expect_gradient(const attributes& of, const shape& dy, const shape& images) {
  const shape wanted = resized(of, images);
  if (!fits(dy, wanted))
    throw error(errc::invalid_argument, "a gradient of shape " + to_string(dy) + " does not fit images of shape " +
                                            to_string(images) + " resized to " + to_string(wanted));
}

PINION_DECL void resize_nearest_neighbor::infer(shape_context& c) {
  detail::expect_images_to_resize(c, 0);
  c.output(c.dtype(0), resized(c.attrs(), c.shape(0)));
}

PINION_DECL void resize_nearest_neighbor::gradient(gradient_context& g) {
  g.set(0, g.make(resize_nearest_neighbor_grad::name, {g.output_gradient(0), g.input(0)}, g.attrs()));
}

PINION_DECL void resize_bilinear::infer(shape_context& c) {
  resize_nearest_neighbor::infer(c);
}

PINION_DECL double resize_bilinear::work(const work_context& c) {
  return 9 * c.count(c.output(0).shape);
}

PINION_DECL void resize_bilinear::gradient(gradient_context& g) {
  g.set(0, g.make(resize_bilinear_grad::name, {g.output_gradient(0), g.input(0)}, g.attrs()));
}

PINION_DECL void resizing_gradient::infer(shape_context& c) {
  for (int i : {0, 1}) detail::expect_images_to_resize(c, i);
  expect_gradient(c.attrs(), c.shape(0), c.shape(1));
  c.output(c.dtype(0), c.shape(1).has_rank() ? c.shape(1) : shape::unknown_of_rank(4));
}

PINION_DECL double resize_nearest_neighbor_grad::work(const work_context& c) {
  return c.count(c.input(0).shape);
}

PINION_DECL void resize_nearest_neighbor_grad::gradient(gradient_context& g) {
  g.set(0, g.make(resize_nearest_neighbor::name, {g.output_gradient(0)}, g.attrs()));
}

PINION_DECL double resize_bilinear_grad::work(const work_context& c) {
  return 12 * c.count(c.input(0).shape);
}

PINION_DECL void resize_bilinear_grad::gradient(gradient_context& g) {
  g.set(0, g.make(resize_bilinear::name, {g.output_gradient(0)}, g.attrs()));
}

}}}  // namespace pinion::v0::op
