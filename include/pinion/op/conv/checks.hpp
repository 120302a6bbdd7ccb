// The extents that a kernel of convolution or pooling runs with, checked on every device alike.
#pragma once

#include <pinion/op/conv/geometry.hpp>
#include <pinion/op/conv/op.hpp>
#include <pinion/opkit/kernel.hpp>

namespace pinion { inline namespace v0 { namespace op { namespace detail {

// The extents of a convolution or of one of its gradients. Throws invalid_argument where they do not fit.
inline image_geometry convolution_geometry(conv_pass pass, const attributes& attrs, const kernel_context& c) {
  const bool sized = pass == conv_pass::by_images && c.inputs.size() == 2;
  const shape images = sized ? transposed(attrs, c.input(0).shape(), c.input(1).shape())
                             : c.input(pass == conv_pass::by_images ? 2 : 0).shape();
  const shape& filters = c.input(pass == conv_pass::by_filters ? 2 : 1).shape();
  const shape windows = convolved(attrs, images, filters);
  if (pass != conv_pass::forward) {
    const shape& dy = c.input(pass == conv_pass::by_images ? 0 : 1).shape();
    if (!(dy == windows))
      throw error(errc::invalid_argument, "a gradient of shape " + to_string(dy) + " does not fit images of shape " +
                                              to_string(images) + " and filters of shape " + to_string(filters));
  }
  return {images, filters, windows, window(attrs, filters[0], filters[1])};
}

inline image_geometry pooling_geometry(const attributes& attrs, const shape& images) {
  return {images, shape{}, pooling::pooled(attrs, images), pooling::window_of(attrs)};
}

// Throw invalid_argument for a tensor that is not shaped as the windows, or as the images.
inline void expect_windows(const any_tensor& dy, const image_geometry& g) {
  if (!(dy.shape() == g.windows))
    throw error(errc::invalid_argument, "a gradient of shape " + to_string(dy.shape()) +
                                            " does not fit the windows of images of shape " + to_string(g.images));
}
inline void expect_images(const any_tensor& values, const image_geometry& g) {
  if (!(values.shape() == g.images))
    throw error(errc::invalid_argument,
                "values of shape " + to_string(values.shape()) + " for images of shape " + to_string(g.images));
}

}}}}  // namespace pinion::v0::op::detail
