// Products of matrices together with what stands beside them in a layer: bias and relu, and the gradients of both.
#pragma once

#include <pinion/base/config.hpp>
#include <pinion/op/matmul/op.hpp>
#include <pinion/opkit/attribute_list.hpp>
#include <pinion/opkit/definition.hpp>

namespace pinion { inline namespace v0 { namespace op {

// A product together with what stands beside it in a layer, which optimization makes one node for GPUs: their libraries
// compute it as the product ends, or as it reads a factor. Attributes are those of the product, and those that are
// named below.
struct product_in_layer {
  static constexpr bool rewrite = true;
  static constexpr attribute_list attrs = matmul::attrs;
  static constexpr bool bears_changing_inputs = true;
  static constexpr kernel_set kernels{.cpu = dtypes::floating, .gpu = dtypes::floating};
  static constexpr std::string_view gpu_library = matmul::gpu_library, without_library = matmul::without_library;
  static constexpr std::string_view no_gradient = "steps are differentiated before they are optimized";
  // Counts two operations for each element of the product beside the product's own.
  static double work(const work_context& c);
};

// (a, b, bias [n]) -> a product [m, n] with the bias added to each of its rows, and then, with attribute "relu", 0 in
// place of what is not above 0; NaN stays.
//
// With attribute "mask" there is a second output, bytes [m, ...], in which a library notes for its own product in
// matmul_relu_gradient where relu let values pass. The order of its bits is the library's secret, so what multiplies
// without the library leaves the mask empty.
struct biased_matmul : product_in_layer {
  static constexpr std::string_view name = "MatMulBias";
  static constexpr input_count inputs = 3;
  static constexpr attribute_list attrs =
      matmul::attrs + attribute_list{attr::flag("relu").optional(), attr::flag("mask").optional()};
  static void infer(shape_context& c);
};

// (a, b, y [m, n], mask) -> the product [m, n] with 0 where y is not above 0, NaN counting as above, and its sums over
// the rows [n]: the gradients of y = relu(z + bias) by z and by the bias, from the product, which is that by y. The
// mask is that of the node that made y, or left out.
struct matmul_relu_gradient : product_in_layer {
  static constexpr std::string_view name = "MatMulReluGrad";
  static constexpr input_count inputs{3, 4};
  static void infer(shape_context& c);
};

// (a, b) -> the product [m, n], and the sums of op(B) over the inner dimension [n], or, with attribute "sums_left",
// those of op(A) [m]: the gradients of z = x w + bias by w and by the bias, from x^T and the gradient by z.
struct matmul_bias_gradient : product_in_layer {
  static constexpr std::string_view name = "MatMulBiasGrad";
  static constexpr input_count inputs = 2;
  static constexpr attribute_list attrs = matmul::attrs + attribute_list{attr::flag("sums_left").optional()};
  static void infer(shape_context& c);
};

}}}  // namespace pinion::v0::op

#if PINION_HEADER_ONLY
#include <pinion/op/layer/op.ipp>
#endif
