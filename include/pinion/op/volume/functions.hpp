// Convolution and pooling of volumes [n, depth, height, width, channels], float or double; on CPUs.
//
//   auto h = pn::max_pool3d(pn::conv3d(volumes, filters, {.padding = pn::padding::same}));
//
// Windows, strides and paddings are those of <pinion/op/conv/functions.hpp>, along three axes. Every function here
// throws invalid_argument for operands that are not volumes, for channels that do not agree, and for windows, strides
// or dilations below 1. <pinion/train.hpp> brings this header, <pinion/graph.hpp> does not.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

#include <pinion/base/config.hpp>
#include <pinion/dsl/node_call.hpp>
#include <pinion/op/conv/window.hpp>
#include <pinion/op/elementwise/functions.hpp>
#include <pinion/op/volume/op.hpp>

namespace pinion { inline namespace v0 {

// Options of conv3d. Strides and dilations are {of depth, of height, of width}.
struct conv3d_options {
  std::array<std::int64_t, 3> strides = {1, 1, 1};
  pinion::padding padding = pinion::padding::valid;
  std::array<std::int64_t, 3> dilations = {1, 1, 1};
  std::string_view name = {};
};
// Options of max_pool3d and avg_pool3d. Window and strides are {of depth, of height, of width}.
struct pool3d_options {
  std::array<std::int64_t, 3> window = {2, 2, 2};
  std::array<std::int64_t, 3> strides = {2, 2, 2};
  pinion::padding padding = pinion::padding::valid;
  std::string_view name = {};
};

namespace dsl {
attributes window_attributes(const conv3d_options& o);
attributes window_attributes(const pool3d_options& o);
}  // namespace dsl

// volumes [n, d, h, w, in] and filters [p, q, r, in, out] -> [n, d', h', w', out]: the sum over each window, and over
// the input channels, of volume times filter. Differentiable by both operands, to any order. Extents of the result are
// those of conv2d along each axis; n, and any other extent, may be unknown until a step runs. Filters are applied as
// they stand (cross-correlation). Floats go through oneDNN where it was configured. TensorFlow: tf.nn.conv3d with
// data_format NDHWC.
//
//   auto k = pn::variable(pn::truncated_normal<float>({3, 3, 3, 1, 8}, {.stddev = .1}), {.name = "k"});
//   auto y = pn::conv3d(scans, k, {.strides = {2, 2, 2}, .padding = pn::padding::same});
template <dsl::graph_operand A, dsl::graph_operand F>
auto conv3d(A&& volumes, F&& filters, const conv3d_options& options = {},
            source_location where = source_location::current()) {
  static_assert(dsl::same_dtype<dsl::value_of<A>, dsl::value_of<F>>,
                "volumes and filters have different dtypes; pn::cast<T>(x) converts one of them");
  dsl::check_floating<A>();
  return dsl::node_call<op::conv3d, dsl::value_of<A>>(options.name, where, dsl::window_attributes(options),
                                                      std::forward<A>(volumes), std::forward<F>(filters));
}

// The greatest element of each window, for each channel: [n, d, h, w, c] -> [n, d', h', w', c]. Padding does not count.
// In avg_pool3d it is the mean of the elements of each window that lie inside the volume. The gradient of a maximum
// goes to the first of several equal elements, that of a mean is shared evenly; there are gradients of any order.
// TensorFlow: tf.nn.max_pool3d and tf.nn.avg_pool3d.
template <dsl::graph_operand A>
auto max_pool3d(A&& volumes, const pool3d_options& options = {}, source_location where = source_location::current()) {
  dsl::check_floating<A>();
  return dsl::node_call<op::max_pool3d, dsl::value_of<A>>(options.name, where, dsl::window_attributes(options),
                                                          std::forward<A>(volumes));
}
template <dsl::graph_operand A>
auto avg_pool3d(A&& volumes, const pool3d_options& options = {}, source_location where = source_location::current()) {
  dsl::check_floating<A>();
  return dsl::node_call<op::avg_pool3d, dsl::value_of<A>>(options.name, where, dsl::window_attributes(options),
                                                          std::forward<A>(volumes));
}

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/op/volume/functions.ipp>
#endif
