// Convolution and pooling of images [n, height, width, channels], float or double.
//
//   auto h = pn::max_pool(pn::conv2d(images, filters, {.padding = pn::padding::same}));
//
// A window of extent p with dilation d reaches over r = (p - 1) d + 1 elements. padding::valid keeps windows inside the
// image; padding::same extends it, such that there are ceil(extent / stride) windows, and the odd element goes to the
// end, as in TensorFlow. Every function here throws invalid_argument for operands that are not images, for channels
// that do not agree, and for strides or dilations below 1.
#pragma once

#include <array>
#include <string_view>
#include <utility>

#include <pinion/base/config.hpp>
#include <pinion/dsl/node_call.hpp>
#include <pinion/op/conv/op.hpp>

namespace pinion { inline namespace v0 {

// Options of conv2d. Strides and dilations are {of height, of width}. All numbers are 1 or more. There is one padding
// for both axes of the image; pn::pad adds any other number of rows around. A dilation of d reads every d-th element,
// so that filters reach further without more weights.
struct conv2d_options {
  std::array<std::int64_t, 2> strides = {1, 1};
  pinion::padding padding = pinion::padding::valid;
  std::array<std::int64_t, 2> dilations = {1, 1};
  std::string_view name = {};
};
// Options of max_pool and avg_pool. Window and strides are {of height, of width}. Strides below the window make the
// windows overlap; strides above it leave elements out.
struct pool_options {
  std::array<std::int64_t, 2> window = {2, 2};
  std::array<std::int64_t, 2> strides = {2, 2};
  pinion::padding padding = pinion::padding::valid;
  std::string_view name = {};
};

namespace dsl {
// The padding is kept as TensorFlow's text, "SAME" or "VALID".
attributes window_attributes(const std::array<std::int64_t, 2>& strides, padding around);
template <class Op, class A>
auto pool(A&& x, const pool_options& o, source_location where) {
  attributes attrs = window_attributes(o.strides, o.padding);
  attrs.set("window", integers(o.window.begin(), o.window.end()));
  return node_call<Op, value_of<A>>(o.name, where, std::move(attrs), std::forward<A>(x));
}
}  // namespace dsl

// images [n, h, w, in] and filters [p, q, in, out] -> [n, h', w', out]: the sum over each window, and over the input
// channels, of image times filter. Differentiable by both operands. The extents of the result, for an image of extent e
// along an axis: padding::same gives ceil(e / stride), and padding::valid gives floor((e - r) / stride) + 1, or 0 where
// the image is smaller than the window. Filters are applied as they stand, not mirrored (cross-correlation), as in
// tf.nn.conv2d with data_format NHWC. There are no groups.
//
// On a CPU, floats go through oneDNN where it was configured. Doubles, and floats without it, are computed as products
// of matrices whose rows are the windows.
//
//   auto k = pn::variable(pn::truncated_normal<float>({5, 5, 1, 32}, {.stddev = .1}), {.name = "k"});
//   auto images = pn::placeholder<float>({pn::unknown, 28, 28, 1});
//   auto y = pn::conv2d(images, k, {.strides = {2, 2}, .padding = pn::padding::same});  // [n, 14, 14, 32]
template <dsl::graph_operand A, dsl::graph_operand F>
auto conv2d(A&& images, F&& filters, const conv2d_options& options = {},
            source_location where = source_location::current()) {
  using T = dsl::value_of<A>;
  static_assert(dsl::same_dtype<T, dsl::value_of<F>>,
                "images and filters have different dtypes; pn::cast<T>(x) converts one of them");
  attributes attrs = dsl::window_attributes(options.strides, options.padding);
  attrs.set("dilations", integers(options.dilations.begin(), options.dilations.end()));
  return dsl::node_call<op::conv2d, T>(options.name, where, std::move(attrs), std::forward<A>(images),
                                       std::forward<F>(filters));
}
// The greatest element of each window, for each channel: [n, h, w, c] -> [n, h', w', c]. Padding does not count. In
// avg_pool it is the mean of the elements of each window that lie inside the image. The gradient of a maximum goes to
// the first of several equal elements, row by row; that of a mean is shared evenly among the elements that counted.
// Throws invalid_argument for a window or a stride below 1. TensorFlow: tf.nn.max_pool and tf.nn.avg_pool.
template <dsl::graph_operand A>
auto max_pool(A&& images, const pool_options& options = {}, source_location where = source_location::current()) {
  return dsl::pool<op::max_pool>(std::forward<A>(images), options, where);
}
template <dsl::graph_operand A>
auto avg_pool(A&& images, const pool_options& options = {}, source_location where = source_location::current()) {
  return dsl::pool<op::avg_pool>(std::forward<A>(images), options, where);
}

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/op/conv/functions.ipp>
#endif
