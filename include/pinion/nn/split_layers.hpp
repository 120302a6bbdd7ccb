// Layers cut by their units: each device holds some columns of the kernel, and computes the units of those.
//
//   x [n, inputs] ──┬── kernel[:, 0:80] ──── units 0 to 79     /cpu:0
//                   └── kernel[:, 80:160] ── units 80 to 159   /cpu:1
//
// The other cut, by layers, needs a guard around each: pn::device on{...}.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <pinion/graph/called_from.hpp>
#include <pinion/graph/device_guard.hpp>
#include <pinion/nn/layers.hpp>
#include <pinion/op/gather/spelling.hpp>
#include <pinion/op/layout/spelling.hpp>
#include <pinion/op/slice/spelling.hpp>

namespace pinion { inline namespace v0 { namespace nn {

// The columns of a matrix whose parts are given side by side. Throws invalid_argument unless each is a matrix of a
// known number of columns.
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

// A dense layer, the k-th part of its units on the k-th device: activation(x kernel[:, k] + bias[k]) [n, units /
// devices] each; where they do not divide, the first devices have one more. x is a matrix, or what another split layer
// yields: every device then gathers the parts that the others hold. concat(parts, 1) is the whole, [n, units]. The
// variables are NAME/part_K/kernel and NAME/part_K/bias. They begin as those of the dense layer that is not split would
// (one draw is cut), so both compute the same, but for the order of float sums. Devices are names as guards take them;
// several parts may name one. Throws invalid_argument: no device, more devices than units, or an x whose number of
// columns is not known. float, double.
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
template <dsl::graph_operand A, class Activation>
std::vector<expr<dsl::value_of<A>>> split_dense(const A& x, std::int64_t units, const std::vector<std::string>& devices,
                                                Activation activation, const dense_options& options = {},
                                                source_location where = source_location::current()) {
  using T = dsl::value_of<A>;
  return split_dense(std::vector<expr<T>>{expr<T>(x)}, units, devices, activation, options, where);
}
// With a function of pinion, by its name.
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
