// Images [n, height, width, channels] in another size, float or double, on CPUs.
//
//   auto y = pn::resize_bilinear(images, {224, 224}, {.half_pixel_centers = true});    // [n, 224, 224, c]
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

#include <pinion/dsl/node_call.hpp>
#include <pinion/op/resize/op.hpp>

namespace pinion { inline namespace v0 {

// Options of resize_nearest and resize_bilinear: which places of the image the pixels of the result are at. For n
// pixels of the image and m of the result, pixel i is at i n / m; with align_corners it is at i (n - 1) / (m - 1), so
// that the first and last pixels stay; with half_pixel_centers at (i + 1/2) n / m - 1/2, so that the edges do. Both
// together throw invalid_argument. tf.image.resize, PyTorch (without align_corners) and ONNX have half-pixel centers.
struct resize_options {
  bool align_corners = false;
  bool half_pixel_centers = false;
  std::string_view name = {};
};

namespace dsl {
template <class Op, class A>
auto resize(A&& images, const std::array<std::int64_t, 2>& size, const resize_options& o, source_location where) {
  return node_call<Op, value_of<A>>(o.name, where,
                                    {{"size", integers(size.begin(), size.end())},
                                     {"align_corners", o.align_corners},
                                     {"half_pixel_centers", o.half_pixel_centers}},
                                    std::forward<A>(images));
}
}  // namespace dsl

// Images of size {height, width}, each pixel that of the image at its place: images [n, h, w, c] -> [n, height, width,
// c]. A place between two pixels is that of the one before, with align_corners that of the nearer one; with
// half_pixel_centers the nearer one, too. The gradient of a pixel is the sum of those that were made of it. Throws
// invalid_argument for operands that are not images, or have no pixels, and for a size below 1. n, h, w, and c may be
// unknown. TensorFlow: tf.compat.v1.image.resize_nearest_neighbor.
template <dsl::graph_operand A>
auto resize_nearest(A&& images, const std::array<std::int64_t, 2>& size, const resize_options& options = {},
                    source_location where = source_location::current()) {
  return dsl::resize<op::resize_nearest_neighbor>(std::forward<A>(images), size, options, where);
}

// Images of size {height, width}, each pixel the mean of the four around its place, by their distances along both axes.
// A smaller image is made of some of the pixels alone, not of all. Shapes and errors are those of resize_nearest; the
// gradient of a pixel is shared by the four. TensorFlow: tf.compat.v1.image.resize_bilinear.
template <dsl::graph_operand A>
auto resize_bilinear(A&& images, const std::array<std::int64_t, 2>& size, const resize_options& options = {},
                     source_location where = source_location::current()) {
  return dsl::resize<op::resize_bilinear>(std::forward<A>(images), size, options, where);
}

}}  // namespace pinion::v0
