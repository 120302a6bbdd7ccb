// Layers: dense and conv2d, each with the variables that it makes in the default graph.
//
//   auto h = pn::nn::dense(x, 160, pn::relu, {.name = "hidden"});   // hidden/kernel, hidden/bias
//   auto logits = pn::nn::dense(h, 10, {.name = "logits"});
//
// A layer is a function, and nothing is kept of it but nodes and variables in the default graph: the variables are
// found under the layer's name, initialised with all others, trained by optimizers and written by savers. A layer of
// one's own is a function like these:
//
//   pn::expr<float> scaled(const pn::expr<float>& x, std::string_view name) {
//     const pn::name_scope scope{name};
//     const auto scale = pn::variable(pn::ones<float>({x.shape()[1]}), {.name = "scale"});     // NAME/scale
//     return x * scale;
//   }
//
// The shape of the last axis must be known where variables are made from it; the number of rows may be pn::unknown.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <pinion/graph/called_from.hpp>
#include <pinion/graph/scopes.hpp>
#include <pinion/nn/activations.hpp>
#include <pinion/nn/initializers.hpp>
#include <pinion/op/conv/functions.hpp>
#include <pinion/op/einsum/functions.hpp>
#include <pinion/op/reduce/functions.hpp>

namespace pinion { inline namespace v0 { namespace nn {

// Options of dense. Both initialisers are values of nn/initializers.hpp. The name becomes a name scope, which gets a
// number where it is taken: a second dense layer has dense_1/kernel. Without a bias, no variable for it is made.
struct dense_options {
  bool use_bias = true;
  std::int64_t seed = 0;                               // of the kernel; 0: another one in each session
  std::optional<initializer> kernel_initializer = {};  // default: Glorot uniform, by the seed
  std::optional<initializer> bias_initializer = {};    // default: zeros
  std::string_view name = "dense";
};

namespace detail {

// activation(y + bias), where the new variable "bias" has `first` as its initial value. It is made in the name scope of
// the layer.
template <class Y, class B, class Activation>
auto activated_with_bias(const Y& y, const B& first, Activation activation, source_location where) {
  const auto bias = variable(first, {.name = "bias"}, where);
  return activated(bias_add(y, bias, {}, where), activation);
}
// activation(y + bias), or activation(y) where the layer's options say so.
template <class T, class Y, class Activation, class Options>
expr<T> end_of_layer(const Y& y, std::int64_t units, Activation activation, const Options& o, source_location where) {
  if (!o.use_bias) return activated(y, activation);
  const initializer first = o.bias_initializer.value_or(zeros_initializer());
  return activated_with_bias(y, first.of<T>({units}, where), activation, where);
}

}  // namespace detail

// A dense layer: x [..., inputs] -> activation(x kernel + bias) [..., units]. It makes the variables NAME/kernel
// [inputs, units] and NAME/bias [units]. The kernel begins uniform in +-sqrt(6 / (inputs + units)) (Glorot and Bengio
// 2010) and the bias as 0, unless the options have other initialisers. Throws invalid_argument unless x has rank 2 or
// more and a known last extent, and units are positive. float, double. Each call makes variables of its own, which are
// trainable and global; run global_variables_initializer() after the last layer is made. To use one kernel twice, make
// the variable and call matmul. Open guards and scopes hold for the variables and for the computation alike.
// `activation` is one of nn/activations.hpp, a function of an expression, or nullptr. TensorFlow: tf.layers.dense.
template <dsl::graph_operand A, class Activation>
expr<dsl::value_of<A>> dense(A&& x, std::int64_t units, Activation activation, const dense_options& options = {},
                             source_location where = source_location::current()) {
  using T = dsl::value_of<A>;
  dsl::check_floating<A>();
  const shape extent = x.shape();
  const std::int64_t inputs = extent.rank() < 2 ? unknown : extent[extent.rank() - 1];
  if (units < 1 || inputs < 0)
    throw error(errc::invalid_argument, "a dense layer of " + std::to_string(units) + " units on '" + x.name() +
                                            "' of shape " + to_string(extent) +
                                            ": it takes rank 2 or more, and a known last extent");
  const called_from line(where);
  const name_scope scope{options.name};
  const initializer first = options.kernel_initializer.value_or(glorot_uniform_initializer(options.seed));
  const auto kernel = variable(first.of<T>({inputs, units}, where), {.name = "kernel"}, where);
  return detail::end_of_layer<T>(matmul(std::forward<A>(x), kernel, {}, where), units, activation, options, where);
}
// Takes the activation as a function of pinion by its name: dense(x, 160, pn::tanh).
template <dsl::graph_operand A>
expr<dsl::value_of<A>> dense(A&& x, std::int64_t units, dsl::function_by_name<dsl::value_of<A>> activation,
                             const dense_options& options = {}, source_location where = source_location::current()) {
  return nn::dense(std::forward<A>(x), units, by_name<dsl::value_of<A>>(activation), options, where);
}
// A dense layer without an activation.
//
//   auto logits = pn::nn::dense(h, 10, {.use_bias = false, .name = "logits"});
template <dsl::graph_operand A>
expr<dsl::value_of<A>> dense(A&& x, std::int64_t units, const dense_options& options = {},
                             source_location where = source_location::current()) {
  return dense(std::forward<A>(x), units, nullptr, options, where);
}

// Options of the layer conv2d. Strides, padding, dilations and groups are those of pn::conv2d.
struct conv2d_layer_options {
  std::array<std::int64_t, 2> strides = {1, 1};
  pinion::padding padding = pinion::padding::valid;
  std::array<std::int64_t, 2> dilations = {1, 1};
  std::int64_t groups = 1;
  bool use_bias = true;
  std::int64_t seed = 0;
  std::optional<initializer> kernel_initializer = {};  // default: as in dense
  std::optional<initializer> bias_initializer = {};
  std::string_view name = "conv2d";
};

// A convolution layer: images [n, h, w, in] -> activation(conv2d(images, kernel) + bias) [n, h', w', filters]. It makes
// the variables NAME/kernel [window, in / groups, filters] and NAME/bias [filters], which begin as those of dense.
// Throws invalid_argument unless the images have four axes and a known number of channels, and filters and window are
// positive. float, double. The window is {height, width} of the filters. The kernel begins uniform in +-sqrt(6 / (a +
// b)), where a and b are the window's elements times the channels in and the filters (Glorot and Bengio 2010).
// TensorFlow: tf.layers.conv2d.
//
//   auto h = pn::nn::conv2d(images, 32, {5, 5}, pn::relu, {.padding = pn::padding::same, .name = "conv1"});
template <dsl::graph_operand A, class Activation>
expr<dsl::value_of<A>> conv2d(A&& images, std::int64_t filters, const std::array<std::int64_t, 2>& window,
                              Activation activation, const conv2d_layer_options& options = {},
                              source_location where = source_location::current()) {
  using T = dsl::value_of<A>;
  dsl::check_floating<A>();
  const shape extent = images.shape();
  if (filters < 1 || window[0] < 1 || window[1] < 1 || options.groups < 1 || extent.rank() != 4 || extent[3] < 0)
    throw error(errc::invalid_argument, "a conv2d layer of " + std::to_string(filters) + " filters of " +
                                            std::to_string(window[0]) + " x " + std::to_string(window[1]) + " on '" +
                                            images.name() + "' of shape " + to_string(extent) +
                                            ": it takes images [n, h, w, channels] of a known number of channels");
  const shape of_kernel{window[0], window[1], extent[3] / options.groups, filters};
  dsl::expect_groups(extent, of_kernel, options.groups);
  const called_from line(where);
  const name_scope scope{options.name};
  const initializer first = options.kernel_initializer.value_or(glorot_uniform_initializer(options.seed));
  const auto kernel = variable(first.of<T>(of_kernel, where), {.name = "kernel"}, where);
  const auto y = pinion::conv2d(std::forward<A>(images), kernel,
                                {.strides = options.strides,
                                 .padding = options.padding,
                                 .dilations = options.dilations,
                                 .groups = options.groups},
                                where);
  return detail::end_of_layer<T>(y, filters, activation, options, where);
}
// Takes the activation as a function of pinion by its name.
template <dsl::graph_operand A>
expr<dsl::value_of<A>> conv2d(A&& images, std::int64_t filters, const std::array<std::int64_t, 2>& window,
                              dsl::function_by_name<dsl::value_of<A>> activation,
                              const conv2d_layer_options& options = {},
                              source_location where = source_location::current()) {
  return nn::conv2d(std::forward<A>(images), filters, window, by_name<dsl::value_of<A>>(activation), options, where);
}
// A convolution layer without an activation. Compilers take it where the options follow the window: conv2d(images, 32,
// {5, 5}, {.name = "conv1"}).
template <dsl::graph_operand A>
expr<dsl::value_of<A>> conv2d(A&& images, std::int64_t filters, const std::array<std::int64_t, 2>& window,
                              const conv2d_layer_options& options = {},
                              source_location where = source_location::current()) {
  return nn::conv2d(std::forward<A>(images), filters, window, nullptr, options, where);
}

template <dsl::graph_operand A, class I, class... More>
requires std::is_integral_v<I> PINION_REFUSED(
    "the window of a convolution layer has two extents: conv2d(images, 32, {3, 3})")
conv2d(A&&, std::int64_t, I, const More&...) PINION_REFUSAL;

}}}  // namespace pinion::v0::nn
