// Layers of convolutions beside conv2d: depthwise_conv2d, conv2d_transpose and conv1d, with their variables.
//
//   auto h = pn::nn::depthwise_conv2d(images, {3, 3}, pn::relu, {.padding = pn::padding::same});
//   auto large = pn::nn::conv2d_transpose(h, 16, {3, 3}, {.strides = {2, 2}, .padding = pn::padding::same});
//
// Each is a function in the manner of nn/layers.hpp: a name scope with the variables "kernel" and "bias", an activation
// or nullptr, float or double. All but the number of channels may be unknown.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <pinion/base/config.hpp>
#include <pinion/nn/layers.hpp>

namespace pinion { inline namespace v0 { namespace nn {

// Options of depthwise_conv2d. Each channel has as many filters as `multiplier` says.
struct depthwise_conv2d_layer_options {
  std::array<std::int64_t, 2> strides = {1, 1};
  pinion::padding padding = pinion::padding::valid;
  std::array<std::int64_t, 2> dilations = {1, 1};
  std::int64_t multiplier = 1;
  bool use_bias = true;
  std::int64_t seed = 0;
  std::optional<initializer> kernel_initializer = {};  // default: Glorot uniform
  std::optional<initializer> bias_initializer = {};    // default: zeros
  std::string_view name = "depthwise_conv2d";
};
// Options of conv2d_transpose. Strides, padding, dilations and sizes are those of pn::conv2d_transpose.
struct conv2d_transpose_layer_options {
  std::array<std::int64_t, 2> strides = {1, 1};
  pinion::padding padding = pinion::padding::valid;
  std::array<std::int64_t, 2> dilations = {1, 1};
  std::optional<std::array<std::int64_t, 2>> sizes = {};
  bool use_bias = true;
  std::int64_t seed = 0;
  std::optional<initializer> kernel_initializer = {};
  std::optional<initializer> bias_initializer = {};
  std::string_view name = "conv2d_transpose";
};
// Options of conv1d. Stride, padding, dilation and groups are those of pn::conv1d.
struct conv1d_layer_options {
  std::int64_t stride = 1;
  pinion::padding padding = pinion::padding::valid;
  std::int64_t dilation = 1;
  std::int64_t groups = 1;
  bool use_bias = true;
  std::int64_t seed = 0;
  std::optional<initializer> kernel_initializer = {};
  std::optional<initializer> bias_initializer = {};
  std::string_view name = "conv1d";
};

namespace detail {
// The channels of the operand of a layer. Throws invalid_argument unless it has that rank and a known number of
// channels, and the numbers of the layer are positive and `groups` divides the channels.
std::int64_t channels_of(const char* layer, const any_expr& x, int rank, std::initializer_list<std::int64_t> numbers,
                         std::int64_t groups = 1);

template <class T, class Options>
auto kernel_of_layer(const shape& extent, const Options& o, source_location where) {
  const initializer first = o.kernel_initializer.value_or(glorot_uniform_initializer(o.seed));
  return variable(first.of<T>(extent, where), {.name = "kernel"}, where);
}
}  // namespace detail

// Each channel convolved by filters of its own: images [n, h, w, in] -> activation(depthwise_conv2d(images, kernel) +
// bias) [n, h', w', in * multiplier], with the variables NAME/kernel [window, in, multiplier] and NAME/bias. Throws
// invalid_argument unless the images have four axes and a known number of channels, and the numbers are positive.
// Keras: DepthwiseConv2D.
template <dsl::graph_operand A, class Activation>
expr<dsl::value_of<A>> depthwise_conv2d(A&& images, const std::array<std::int64_t, 2>& window, Activation activation,
                                        const depthwise_conv2d_layer_options& o = {},
                                        source_location where = source_location::current()) {
  using T = dsl::value_of<A>;
  dsl::check_floating<A>();
  const expr<T> x = std::forward<A>(images);
  const std::int64_t channels = detail::channels_of("depthwise_conv2d", x, 4, {window[0], window[1], o.multiplier});
  const called_from line(where);
  const name_scope scope{o.name};
  const auto kernel = detail::kernel_of_layer<T>({window[0], window[1], channels, o.multiplier}, o, where);
  const auto y = pinion::depthwise_conv2d(
      x, kernel, {.strides = o.strides, .padding = o.padding, .dilations = o.dilations}, where);
  return detail::end_of_layer<T>(y, channels * o.multiplier, activation, o, where);
}
// Takes the activation as a function of pinion by its name, or none.
template <dsl::graph_operand A>
expr<dsl::value_of<A>> depthwise_conv2d(A&& images, const std::array<std::int64_t, 2>& window,
                                        dsl::function_by_name<dsl::value_of<A>> activation,
                                        const depthwise_conv2d_layer_options& o = {},
                                        source_location where = source_location::current()) {
  return nn::depthwise_conv2d(std::forward<A>(images), window, by_name<dsl::value_of<A>>(activation), o, where);
}
template <dsl::graph_operand A>
expr<dsl::value_of<A>> depthwise_conv2d(A&& images, const std::array<std::int64_t, 2>& window,
                                        const depthwise_conv2d_layer_options& o = {},
                                        source_location where = source_location::current()) {
  return nn::depthwise_conv2d(std::forward<A>(images), window, nullptr, o, where);
}

// Larger images: x [n, h, w, in] -> activation(conv2d_transpose(x, kernel) + bias) [n, h', w', filters], with the
// variables NAME/kernel [window, filters, in] and NAME/bias. Heights and widths are h * stride for padding::same, and
// h * stride + max(window - stride, 0) for padding::valid. Throws invalid_argument as conv2d does. Keras:
// Conv2DTranspose.
template <dsl::graph_operand A, class Activation>
expr<dsl::value_of<A>> conv2d_transpose(A&& images, std::int64_t filters, const std::array<std::int64_t, 2>& window,
                                        Activation activation, const conv2d_transpose_layer_options& o = {},
                                        source_location where = source_location::current()) {
  using T = dsl::value_of<A>;
  dsl::check_floating<A>();
  const expr<T> x = std::forward<A>(images);
  const std::int64_t channels = detail::channels_of("conv2d_transpose", x, 4, {window[0], window[1], filters});
  const called_from line(where);
  const name_scope scope{o.name};
  const auto kernel = detail::kernel_of_layer<T>({window[0], window[1], filters, channels}, o, where);
  const auto y = pinion::conv2d_transpose(
      x, kernel, {.strides = o.strides, .padding = o.padding, .dilations = o.dilations, .sizes = o.sizes}, where);
  return detail::end_of_layer<T>(y, filters, activation, o, where);
}
template <dsl::graph_operand A>
expr<dsl::value_of<A>> conv2d_transpose(A&& images, std::int64_t filters, const std::array<std::int64_t, 2>& window,
                                        dsl::function_by_name<dsl::value_of<A>> activation,
                                        const conv2d_transpose_layer_options& o = {},
                                        source_location where = source_location::current()) {
  return nn::conv2d_transpose(std::forward<A>(images), filters, window, by_name<dsl::value_of<A>>(activation), o,
                              where);
}
template <dsl::graph_operand A>
expr<dsl::value_of<A>> conv2d_transpose(A&& images, std::int64_t filters, const std::array<std::int64_t, 2>& window,
                                        const conv2d_transpose_layer_options& o = {},
                                        source_location where = source_location::current()) {
  return nn::conv2d_transpose(std::forward<A>(images), filters, window, nullptr, o, where);
}

// A convolution of sequences: x [n, length, in] -> activation(conv1d(x, kernel) + bias) [n, length', filters], with the
// variables NAME/kernel [width, in / groups, filters] and NAME/bias. Throws invalid_argument unless x has three axes
// and a known number of channels, which `groups` divides, and the numbers are positive. Keras: Conv1D.
template <dsl::graph_operand A, class Activation>
expr<dsl::value_of<A>> conv1d(A&& sequence, std::int64_t filters, std::int64_t width, Activation activation,
                              const conv1d_layer_options& o = {}, source_location where = source_location::current()) {
  using T = dsl::value_of<A>;
  dsl::check_floating<A>();
  const expr<T> x = std::forward<A>(sequence);
  const std::int64_t channels = detail::channels_of("conv1d", x, 3, {width, filters}, o.groups);
  const called_from line(where);
  const name_scope scope{o.name};
  const auto kernel = detail::kernel_of_layer<T>({width, channels / o.groups, filters}, o, where);
  const auto y = pinion::conv1d(
      x, kernel, {.stride = o.stride, .padding = o.padding, .dilation = o.dilation, .groups = o.groups}, where);
  return detail::end_of_layer<T>(y, filters, activation, o, where);
}
template <dsl::graph_operand A>
expr<dsl::value_of<A>> conv1d(A&& sequence, std::int64_t filters, std::int64_t width,
                              dsl::function_by_name<dsl::value_of<A>> activation, const conv1d_layer_options& o = {},
                              source_location where = source_location::current()) {
  return nn::conv1d(std::forward<A>(sequence), filters, width, by_name<dsl::value_of<A>>(activation), o, where);
}
template <dsl::graph_operand A>
expr<dsl::value_of<A>> conv1d(A&& sequence, std::int64_t filters, std::int64_t width,
                              const conv1d_layer_options& o = {}, source_location where = source_location::current()) {
  return nn::conv1d(std::forward<A>(sequence), filters, width, nullptr, o, where);
}

}}}  // namespace pinion::v0::nn

#if PINION_HEADER_ONLY
#include <pinion/nn/convolutions.ipp>
#endif
