// Convolution and pooling of images [n, height, width, channels] and of sequences [n, length, channels], float or
// double.
//
//   auto h = pn::max_pool(pn::conv2d(images, filters, {.padding = pn::padding::same}));
//
// A window of extent p with dilation d reaches over r = (p - 1) d + 1 elements. padding::valid keeps windows inside the
// image; padding::same extends it, such that there are ceil(extent / stride) windows, and the odd element goes to the
// end, as in TensorFlow. Every function here throws invalid_argument for operands that are not images, for channels
// that do not agree, and for strides or dilations below 1.
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include <pinion/base/config.hpp>
#include <pinion/dsl/node_call.hpp>
#include <pinion/graph/called_from.hpp>
#include <pinion/op/conv/op.hpp>
#include <pinion/op/layout/functions.hpp>

namespace pinion { inline namespace v0 {

// Options of conv2d. Strides and dilations are {of height, of width}. All numbers are 1 or more. There is one padding
// for both axes of the image; pn::pad adds any other number of rows around. A dilation of d reads every d-th element,
// so that filters reach further without more weights. Of several groups, each has the next channels of the images and
// the next ones of the result, in equal numbers.
struct conv2d_options {
  std::array<std::int64_t, 2> strides = {1, 1};
  pinion::padding padding = pinion::padding::valid;
  std::array<std::int64_t, 2> dilations = {1, 1};
  std::int64_t groups = 1;
  std::string_view name = {};
};
// Options of depthwise_conv2d, which are those of conv2d.
struct depthwise_conv2d_options {
  std::array<std::int64_t, 2> strides = {1, 1};
  pinion::padding padding = pinion::padding::valid;
  std::array<std::int64_t, 2> dilations = {1, 1};
  std::string_view name = {};
};
// Options of conv2d_transpose: those of the convolution that it goes back through. Several heights and widths have the
// same convolution where strides are above 1; `sizes` is {height, width} of the result, if it is not the default.
struct conv2d_transpose_options {
  std::array<std::int64_t, 2> strides = {1, 1};
  pinion::padding padding = pinion::padding::valid;
  std::array<std::int64_t, 2> dilations = {1, 1};
  std::optional<std::array<std::int64_t, 2>> sizes = {};
  std::string_view name = {};
};
// Options of conv1d, along the one axis of a sequence.
struct conv1d_options {
  std::int64_t stride = 1;
  pinion::padding padding = pinion::padding::valid;
  std::int64_t dilation = 1;
  std::int64_t groups = 1;
  std::string_view name = {};
};
// Options of max_pool and avg_pool. Window and strides are {of height, of width}. Strides below the window make the
// windows overlap; strides above it leave elements out. With padding::valid, elements at the end that fill no window
// are left out; with ceil_mode they have a window of their own, which begins inside the image and reaches beyond it.
struct pool_options {
  std::array<std::int64_t, 2> window = {2, 2};
  std::array<std::int64_t, 2> strides = {2, 2};
  pinion::padding padding = pinion::padding::valid;
  bool ceil_mode = false;
  std::string_view name = {};
};
// Options of max_pool1d and avg_pool1d.
struct pool1d_options {
  std::int64_t window = 2;
  std::int64_t stride = 2;
  pinion::padding padding = pinion::padding::valid;
  bool ceil_mode = false;
  std::string_view name = {};
};

namespace dsl {
// The padding is kept as TensorFlow's text, "SAME" or "VALID".
attributes window_attributes(const std::array<std::int64_t, 2>& strides, padding around);
attributes window_attributes(const std::array<std::int64_t, 2>& strides, padding around,
                             const std::array<std::int64_t, 2>& dilations);
attributes window_attributes(const pool_options& o);
attributes window_attributes(const conv2d_transpose_options& o);
// Throws invalid_argument where the channels of images are known not to be those of so many groups of filters.
void expect_groups(const shape& images, const shape& filters, std::int64_t groups);
// The filters [h, w, 1, in * multiplier] of a depthwise convolution as one of groups, whose own are [h, w, in,
// multiplier]. Throws invalid_argument where these are unknown, or do not fit the images.
shape filters_of_groups(const shape& images, const shape& filters);
// The options of a transposed convolution that yields images of a shape, or invalid_argument.
conv2d_transpose_options sized(conv2d_transpose_options o, const shape& result, const shape& x, const shape& filters);
// The shape of images in braces. A shape would be made of the braces of options as well, by some compilers.
struct shape_in_braces {
  shape_in_braces(std::int64_t n, std::int64_t height, std::int64_t width, std::int64_t channels)
      : value{n, height, width, channels} {}
  const shape value;
};
// Throws invalid_argument for what is no sequence [n, length, channels].
void expect_sequence(const char* function, const shape& x);

template <class Op, class A>
auto pool(A&& x, const pool_options& o, source_location where) {
  return node_call<Op, value_of<A>>(o.name, where, window_attributes(o), std::forward<A>(x));
}
// A pooling of a sequence is one of an image of one row.
template <class Op, class A>
auto pool1d(A&& x, const char* function, const pool1d_options& o, source_location where) {
  expect_sequence(function, x.shape());
  const called_from line(where);
  const auto y = pool<Op>(
      expand_dims(std::forward<A>(x), 1, {}, where),
      {.window = {1, o.window}, .strides = {1, o.stride}, .padding = o.padding, .ceil_mode = o.ceil_mode}, where);
  return squeeze(y, {1}, o.name.empty() ? function : o.name, where);
}
}  // namespace dsl

// images [n, h, w, in] and filters [p, q, in, out] -> [n, h', w', out]: the sum over each window, and over the input
// channels, of image times filter. Differentiable by both operands. The extents of the result, for an image of extent e
// along an axis: padding::same gives ceil(e / stride), and padding::valid gives floor((e - r) / stride) + 1, or 0 where
// the image is smaller than the window. Filters are applied as they stand, not mirrored (cross-correlation), as in
// tf.nn.conv2d with data_format NHWC.
//
// With {.groups = g}, filters are [p, q, in / g, out]: group k makes channels k out / g and following of the result
// from channels k in / g and following of the images. Throws invalid_argument where filters do not have in / g
// channels, and where g does not divide `out`. TensorFlow has no such option and takes the groups from the filters; so
// does the node where the channels of the images are not known before a step runs. A GPU convolves one group after the
// other.
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
  dsl::expect_groups(images.shape(), filters.shape(), options.groups);
  return dsl::node_call<op::conv2d, T>(options.name, where,
                                       dsl::window_attributes(options.strides, options.padding, options.dilations),
                                       std::forward<A>(images), std::forward<F>(filters));
}
// Each channel convolved by filters of its own: images [n, h, w, in] and filters [p, q, in, multiplier] -> [n, h', w',
// in * multiplier], where channel c * multiplier + m of the result is that of channel c and its filter m. It is a
// conv2d of `in` groups, and has its extents, gradients and errors. Throws invalid_argument where the filters' extents
// are unknown. TensorFlow: tf.nn.depthwise_conv2d.
template <dsl::graph_operand A, dsl::graph_operand F>
auto depthwise_conv2d(A&& images, F&& filters, const depthwise_conv2d_options& options = {},
                      source_location where = source_location::current()) {
  const shape of_groups = dsl::filters_of_groups(images.shape(), filters.shape());
  const std::int64_t groups = filters.shape()[2];
  const called_from line(where);
  return pinion::conv2d(std::forward<A>(images), reshape(std::forward<F>(filters), of_groups, {}, where),
                        {.strides = options.strides,
                         .padding = options.padding,
                         .dilations = options.dilations,
                         .groups = groups,
                         .name = options.name.empty() ? "depthwise" : options.name},
                        where);
}
// The way back through a convolution, as a layer that makes images larger: x [n, h', w', in] and filters [p, q, out,
// in]
// -> [n, h, w, out], the gradient of conv2d by images of that shape, whose convolution is x. Heights and widths are
// those of {.sizes}; by default h' * stride, and for padding::valid as much more as the filters reach beyond a stride,
// which is Keras's rule. They may be unknown until a step runs, and so may n. Differentiable by both operands. Throws
// invalid_argument where a convolution of the result does not have the shape of x, and for channels that do not agree.
// TensorFlow: tf.nn.conv2d_transpose.
//
//   auto k = pn::variable(pn::truncated_normal<float>({3, 3, 8, 16}), {.name = "k"});
//   auto x = pn::placeholder<float>({pn::unknown, 7, 7, 16});
//   auto y = pn::conv2d_transpose(x, k, {.strides = {2, 2}, .padding = pn::padding::same});  // [n, 14, 14, 8]
template <dsl::graph_operand A, dsl::graph_operand F>
auto conv2d_transpose(A&& x, F&& filters, const conv2d_transpose_options& options = {},
                      source_location where = source_location::current()) {
  using T = dsl::value_of<A>;
  static_assert(dsl::same_dtype<T, dsl::value_of<F>>,
                "images and filters have different dtypes; pn::cast<T>(x) converts one of them");
  return dsl::node_call<op::conv2d_backprop_input, T>(options.name.empty() ? "conv2d_transpose" : options.name, where,
                                                      dsl::window_attributes(options), std::forward<A>(x),
                                                      std::forward<F>(filters));
}
// Takes the shape of the result, as TensorFlow does: {n, h, w, out}, of which n and `out` may be pn::unknown. It is
// given in braces, or is a pn::shape.
template <dsl::graph_operand A, dsl::graph_operand F>
auto conv2d_transpose(A&& x, F&& filters, const dsl::shape_in_braces& output_shape,
                      const conv2d_transpose_options& options = {},
                      source_location where = source_location::current()) {
  const auto by_shape = dsl::sized(options, output_shape.value, x.shape(), filters.shape());
  return conv2d_transpose(std::forward<A>(x), std::forward<F>(filters), by_shape, where);
}
template <dsl::graph_operand A, dsl::graph_operand F, std::same_as<shape> S>
auto conv2d_transpose(A&& x, F&& filters, const S& output_shape, const conv2d_transpose_options& options = {},
                      source_location where = source_location::current()) {
  const auto by_shape = dsl::sized(options, output_shape, x.shape(), filters.shape());
  return conv2d_transpose(std::forward<A>(x), std::forward<F>(filters), by_shape, where);
}
// A convolution of sequences: x [n, length, in] and filters [width, in, out] -> [n, length', out]. It is a conv2d of
// images of one row, and has its extents, groups, gradients and errors. TensorFlow: tf.nn.conv1d.
//
//   auto y = pn::conv1d(x, k, {.padding = pn::padding::same, .dilation = 4});
template <dsl::graph_operand A, dsl::graph_operand F>
auto conv1d(A&& x, F&& filters, const conv1d_options& options = {},
            source_location where = source_location::current()) {
  dsl::expect_sequence("conv1d", x.shape());
  const called_from line(where);
  const auto y =
      pinion::conv2d(expand_dims(std::forward<A>(x), 1, {}, where), expand_dims(std::forward<F>(filters), 0, {}, where),
                     {.strides = {1, options.stride},
                      .padding = options.padding,
                      .dilations = {1, options.dilation},
                      .groups = options.groups},
                     where);
  return squeeze(y, {1}, options.name.empty() ? "conv1d" : options.name, where);
}
// The greatest element of each window, for each channel: [n, h, w, c] -> [n, h', w', c]. Padding does not count. In
// avg_pool it is the mean of the elements of each window that lie inside the image. The gradient of a maximum goes to
// the first of several equal elements, row by row; that of a mean is shared evenly among the elements that counted.
// Throws invalid_argument for a window or a stride below 1, and for ceil_mode with padding::same. TensorFlow:
// tf.nn.max_pool and tf.nn.avg_pool, which have no ceil_mode; the one of ONNX and PyTorch is this one.
template <dsl::graph_operand A>
auto max_pool(A&& images, const pool_options& options = {}, source_location where = source_location::current()) {
  return dsl::pool<op::max_pool>(std::forward<A>(images), options, where);
}
template <dsl::graph_operand A>
auto avg_pool(A&& images, const pool_options& options = {}, source_location where = source_location::current()) {
  return dsl::pool<op::avg_pool>(std::forward<A>(images), options, where);
}
// Pooling of sequences: [n, length, c] -> [n, length', c]. TensorFlow: tf.nn.max_pool1d and tf.nn.avg_pool1d.
template <dsl::graph_operand A>
auto max_pool1d(A&& x, const pool1d_options& options = {}, source_location where = source_location::current()) {
  return dsl::pool1d<op::max_pool>(std::forward<A>(x), "max_pool1d", options, where);
}
template <dsl::graph_operand A>
auto avg_pool1d(A&& x, const pool1d_options& options = {}, source_location where = source_location::current()) {
  return dsl::pool1d<op::avg_pool>(std::forward<A>(x), "avg_pool1d", options, where);
}

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/op/conv/functions.ipp>
#endif
