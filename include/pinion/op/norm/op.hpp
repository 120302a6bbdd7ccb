// Rows with mean 0 and variance 1: layer normalisation, and that by the root of the mean square.
#pragma once

#include <pinion/base/config.hpp>
#include <pinion/opkit/attribute_list.hpp>
#include <pinion/opkit/definition.hpp>

namespace pinion { inline namespace v0 { namespace op {

namespace detail {

// Ops of rows, which are the last axes of x, as many as gamma has; gamma and beta have the extents of these. Statistics
// of rows have extent 1 there.
struct row_norm {
  static constexpr bool bears_changing_inputs = true;
  static constexpr kernel_set kernels{.cpu = dtypes::floating, .gpu = {}};
  static double work(const work_context& c);
};

}  // namespace detail

// (x, gamma, beta) -> y = (x - mean) inverse gamma + beta; the mean of each row; and its inverse, 1 / sqrt(variance +
// "epsilon"), of the population variance.
struct layer_norm : detail::row_norm {
  static constexpr std::string_view name = "LayerNorm";
  static constexpr attribute_list attrs{attr::real("epsilon")};
  static constexpr input_count inputs = 3;
  static void infer(shape_context& c);
  static void gradient(gradient_context& g);
};

// (dy, x, gamma, mean, inverse) -> the gradients of layer_norm by x, gamma and beta.
struct layer_norm_gradient : detail::row_norm {
  static constexpr std::string_view name = "LayerNormGrad";
  static constexpr attribute_list attrs{};
  static constexpr input_count inputs = 5;
  static void infer(shape_context& c);
  static void gradient(gradient_context& g);
};

// (x, gamma) -> y = x inverse gamma; and the inverse of each row, 1 / sqrt(mean of x^2 + "epsilon").
struct rms_norm : detail::row_norm {
  static constexpr std::string_view name = "RmsNorm";
  static constexpr attribute_list attrs{attr::real("epsilon")};
  static constexpr input_count inputs = 2;
  static void infer(shape_context& c);
  static void gradient(gradient_context& g);
};

// (dy, x, gamma, inverse) -> the gradients of rms_norm by x and gamma.
struct rms_norm_gradient : detail::row_norm {
  static constexpr std::string_view name = "RmsNormGrad";
  static constexpr attribute_list attrs{};
  static constexpr input_count inputs = 4;
  static void infer(shape_context& c);
  static void gradient(gradient_context& g);
};

}}}  // namespace pinion::v0::op

#if PINION_HEADER_ONLY
#include <pinion/op/norm/op.ipp>
#endif
