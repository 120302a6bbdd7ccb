// Split layers: each device holds some columns of a layer's kernel, and computes the units of these columns.
//
//   x [n, inputs] ──┬── kernel[:, 0:80] ──── units 0 to 79     /cpu:0
//                   └── kernel[:, 80:160] ── units 80 to 159   /cpu:1
//
//   auto h = pn::nn::split_dense(x, 160, {"/cpu:0", "/cpu:1"}, pn::relu);
//   auto whole = pn::concat(h, 1);                                          // [n, 160]
//
// To put whole layers on different devices, open a guard around each: pn::device on{...}.
//
// A kernel that is too large for one device is held in parts, and each device computes a part of the units; x is copied
// to all devices, and the results may stay where they are for the next split layer. It pays where kernels are large and
// batches small. Replicas of the whole model, which split the batch instead, are in train/replicas.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <pinion/graph/called_from.hpp>
#include <pinion/graph/device_guard.hpp>
#include <pinion/nn/layers.hpp>
#include <pinion/op/gather/functions.hpp>
#include <pinion/op/layout/functions.hpp>
#include <pinion/op/slice/functions.hpp>

namespace pinion { inline namespace v0 { namespace nn {

// The number of columns of a matrix whose parts stand side by side. Throws invalid_argument unless each part is a
// matrix with a known number of columns. The number of inputs of the next layer.
template <element T>
std::int64_t columns_of(const std::vector<expr<T>>& parts) {
  std::int64_t all = 0;
  for (const expr<T>& part : parts) {
    const shape extent = part.shape();
    if (extent.rank() != 2 || extent[1] < 0)
      throw error(errc::invalid_argument, "a split layer on '" + part.name() + "' of shape " + to_string(extent) +
                                              ": it takes matrices of a known number of columns");
    all += extent[1];
  }
  return all;
}

// A dense layer whose k-th part of the units is on the k-th device: each part is activation(x kernel[:, k] + bias[k])
// [n, units / devices]. Where the division has a rest, the first devices have one unit more. x is a matrix, or the
// result of another split layer, whose parts every device then gathers. concat(parts, 1) is the whole result, [n,
// units].
//
// The variables are NAME/part_K/kernel and NAME/part_K/bias. Their initial values are cut from one draw, which is that
// of dense, so both layers compute the same up to the order of float sums. Devices are names as device guards take
// them, and several parts may name one device. Throws invalid_argument where there is no device, where there are more
// devices than units, and where the number of columns of x is not known. float, double. Parts of a chain of split
// layers stay on their devices; between two layers each device copies the parts of the others, [n, units of the part] a
// step. The activation is applied part by part, so it must work element by element: softmax over a part is not softmax
// over the whole, and belongs behind concat.
template <element T, class Activation>
std::vector<expr<T>> split_dense(const std::vector<expr<T>>& x, std::int64_t units,
                                 const std::vector<std::string>& devices, Activation activation,
                                 const dense_options& options = {},
                                 source_location where = source_location::current()) {
  static_assert(std::is_floating_point_v<T>, "layers are of float or double");
  const auto count = static_cast<std::int64_t>(devices.size());
  if (x.empty() || count == 0 || units < count)
    throw error(errc::invalid_argument, "a layer of " + std::to_string(units) + " units cannot be split over " +
                                            std::to_string(count) + " devices" +
                                            (x.empty() ? ": it has no input" : "; each takes at least one"));
  const std::int64_t inputs = columns_of(x);
  const called_from line(where);
  const name_scope scope{options.name};
  const expr<T> kernels = options.kernel_initializer.value_or(glorot_uniform_initializer(options.seed))
                              .template of<T>({inputs, units}, where);
  const expr<T> biases = options.bias_initializer.value_or(zeros_initializer()).template of<T>({units}, where);
  std::vector<expr<T>> parts;
  for (std::int64_t k = 0, from = 0; k < count; ++k) {
    const std::int64_t size = units / count + (k < units % count ? 1 : 0);
    const device on{devices[static_cast<std::size_t>(k)], where};
    const name_scope part{"part_" + std::to_string(k)};
    const expr<T> whole = x.size() == 1 ? x[0] : expr<T>(concat(x, 1, {}, where));
    const auto kernel = variable(slice(kernels, {0, from}, {-1, size}, {}, where), {.name = "kernel"}, where);
    const auto product = matmul(whole, kernel, {}, where);
    if (options.use_bias)
      parts.push_back(
          detail::activated_with_bias(product, slice(biases, {from}, {size}, {}, where), activation, where));
    else
      parts.push_back(activated(product, activation));
    from += size;
  }
  return parts;
}
// This form takes one matrix; a chain begins with it:
//
//   auto h = pn::nn::split_dense(x, 4096, {"/gpu:0", "/gpu:1"}, pn::relu, {.name = "wide"});
//   auto y = pn::nn::split_dense(h, 1024, {"/gpu:0", "/gpu:1"}, nullptr, {.name = "narrow"});
//   auto logits = pn::nn::dense(pn::concat(y, 1), 10);
template <dsl::graph_operand A, class Activation>
std::vector<expr<dsl::value_of<A>>> split_dense(const A& x, std::int64_t units, const std::vector<std::string>& devices,
                                                Activation activation, const dense_options& options = {},
                                                source_location where = source_location::current()) {
  using T = dsl::value_of<A>;
  return split_dense(std::vector<expr<T>>{expr<T>(x)}, units, devices, activation, options, where);
}
// Takes the activation as a function of pinion by its name.
template <dsl::graph_operand A>
std::vector<expr<dsl::value_of<A>>> split_dense(const A& x, std::int64_t units, const std::vector<std::string>& devices,
                                                dsl::function_by_name<dsl::value_of<A>> activation,
                                                const dense_options& options = {},
                                                source_location where = source_location::current()) {
  return split_dense(x, units, devices, by_name<dsl::value_of<A>>(activation), options, where);
}
template <element T>
std::vector<expr<T>> split_dense(const std::vector<expr<T>>& x, std::int64_t units,
                                 const std::vector<std::string>& devices, dsl::function_by_name<T> activation,
                                 const dense_options& options = {},
                                 source_location where = source_location::current()) {
  return split_dense(x, units, devices, by_name<T>(activation), options, where);
}

}}}  // namespace pinion::v0::nn
