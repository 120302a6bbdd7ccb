// Layers: what a network is built of, with the variables that belong to it.
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
#include <pinion/op/conv/spelling.hpp>
#include <pinion/op/matmul/spelling.hpp>
#include <pinion/op/reduce/spelling.hpp>

namespace pinion { inline namespace v0 { namespace nn {

struct dense_options {
  bool use_bias = true;
  std::int64_t seed = 0;                               // of the first weights; 0: others in each session
  std::optional<initializer> kernel_initializer = {};  // empty: Glorot's, by the seed
  std::optional<initializer> bias_initializer = {};    // empty: 0
  std::string_view name = "dense";
};

namespace detail {

// activation(y + bias), of a variable "bias" that begins so.
template <class Y, class B, class Activation>
auto activated_with_bias(const Y& y, const B& first, Activation activation, source_location where) {
  const auto bias = variable(first, {.name = "bias"}, where);
  return activated(bias_add(y, bias, {}, where), activation);
}
// The same, or without a bias, as the options of a layer have it.
template <class T, class Y, class Activation, class Options>
expr<T> end_of_layer(const Y& y, std::int64_t units, Activation activation, const Options& o, source_location where) {
  if (!o.use_bias) return activated(y, activation);
  const initializer first = o.bias_initializer.value_or(zeros_initializer());
  return activated_with_bias(y, first.of<T>({units}, where), activation, where);
}

}  // namespace detail

// x [n, inputs] -> activation(x kernel + bias) [n, units], with the variables NAME/kernel [inputs, units], uniform in
// +-sqrt(6 / (inputs + units)) (Glorot and Bengio 2010) unless another initialiser is given, and NAME/bias [units], 0.
// Throws invalid_argument unless x is a matrix of a known number of columns. float, double.
template <dsl::graph_operand A, class Activation>
expr<dsl::value_of<A>> dense(A&& x, std::int64_t units, Activation activation, const dense_options& options = {},
                             source_location where = source_location::current()) {
  using T = dsl::value_of<A>;
  dsl::check_floating<A>();
  const shape extent = x.shape();
  if (units < 1 || extent.rank() != 2 || extent[1] < 0)
    throw error(errc::invalid_argument, "a dense layer of " + std::to_string(units) + " units on '" + x.name() +
                                            "' of shape " + to_string(extent) +
                                            ": it takes a matrix of a known number of columns");
  const called_from line(where);
  const name_scope scope{options.name};
  const initializer first = options.kernel_initializer.value_or(glorot_uniform_initializer(options.seed));
  const auto kernel = variable(first.of<T>({extent[1], units}, where), {.name = "kernel"}, where);
  return detail::end_of_layer<T>(matmul(std::forward<A>(x), kernel, {}, where), units, activation, options, where);
}
// With a function of pinion, by its name: dense(x, 160, pn::tanh).
template <dsl::graph_operand A>
expr<dsl::value_of<A>> dense(A&& x, std::int64_t units, dsl::function_by_name<dsl::value_of<A>> activation,
                             const dense_options& options = {}, source_location where = source_location::current()) {
  return nn::dense(std::forward<A>(x), units, by_name<dsl::value_of<A>>(activation), options, where);
}
// Without an activation.
template <dsl::graph_operand A>
expr<dsl::value_of<A>> dense(A&& x, std::int64_t units, const dense_options& options = {},
                             source_location where = source_location::current()) {
  return dense(std::forward<A>(x), units, nullptr, options, where);
}

struct conv2d_layer_options {
  std::array<std::int64_t, 2> strides = {1, 1};
  pinion::padding padding = pinion::padding::valid;
  std::array<std::int64_t, 2> dilations = {1, 1};
  bool use_bias = true;
  std::int64_t seed = 0;
  std::optional<initializer> kernel_initializer = {};  // as those of dense
  std::optional<initializer> bias_initializer = {};
  std::string_view name = "conv2d";
};

// Images [n, h, w, in] -> activation(conv2d(images, kernel) + bias) [n, h', w', filters], with the variables
// NAME/kernel [window, in, filters] and NAME/bias [filters]. Throws invalid_argument unless the number of channels is
// known. float, double.
template <dsl::graph_operand A, class Activation>
expr<dsl::value_of<A>> conv2d(A&& images, std::int64_t filters, const std::array<std::int64_t, 2>& window,
                              Activation activation, const conv2d_layer_options& options = {},
                              source_location where = source_location::current()) {
  using T = dsl::value_of<A>;
  dsl::check_floating<A>();
  const shape extent = images.shape();
  if (filters < 1 || window[0] < 1 || window[1] < 1 || extent.rank() != 4 || extent[3] < 0)
    throw error(errc::invalid_argument, "a conv2d layer of " + std::to_string(filters) + " filters of " +
                                            std::to_string(window[0]) + " x " + std::to_string(window[1]) + " on '" +
                                            images.name() + "' of shape " + to_string(extent) +
                                            ": it takes images [n, h, w, channels] of a known number of channels");
  const called_from line(where);
  const name_scope scope{options.name};
  const initializer first = options.kernel_initializer.value_or(glorot_uniform_initializer(options.seed));
  const auto kernel =
      variable(first.of<T>({window[0], window[1], extent[3], filters}, where), {.name = "kernel"}, where);
  const auto y =
      pinion::conv2d(std::forward<A>(images), kernel,
                     {.strides = options.strides, .padding = options.padding, .dilations = options.dilations}, where);
  return detail::end_of_layer<T>(y, filters, activation, options, where);
}
// With a function of pinion, by its name.
template <dsl::graph_operand A>
expr<dsl::value_of<A>> conv2d(A&& images, std::int64_t filters, const std::array<std::int64_t, 2>& window,
                              dsl::function_by_name<dsl::value_of<A>> activation,
                              const conv2d_layer_options& options = {},
                              source_location where = source_location::current()) {
  return nn::conv2d(std::forward<A>(images), filters, window, by_name<dsl::value_of<A>>(activation), options, where);
}
// Without an activation.
template <dsl::graph_operand A>
expr<dsl::value_of<A>> conv2d(A&& images, std::int64_t filters, const std::array<std::int64_t, 2>& window,
                              const conv2d_layer_options& options = {},
                              source_location where = source_location::current()) {
  return nn::conv2d(std::forward<A>(images), filters, window, nullptr, options, where);
}

}}}  // namespace pinion::v0::nn
