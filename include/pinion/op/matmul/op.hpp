// The product of two matrices, each of which may be transposed first.
#pragma once

#include <pinion/base/config.hpp>
#include <pinion/op/matmul/compute_dtype.hpp>
#include <pinion/opkit/attribute_list.hpp>
#include <pinion/opkit/definition.hpp>

namespace pinion { inline namespace v0 { namespace op {

// [m, k] x [k, n] -> [m, n]. Attributes "transpose_a", "transpose_b", and "compute" (compute_dtype.hpp).
struct matmul {
  static constexpr std::string_view name = "MatMul";
  static constexpr input_count inputs = 2;
  static constexpr attribute_list attrs =
      attribute_list{attr::flag("transpose_a").optional(), attr::flag("transpose_b").optional()} + compute_attribute;
  static constexpr bool bears_changing_inputs = true;
  static constexpr kernel_set kernels{.cpu = dtypes::floating | dtypes::signed_integers, .gpu = dtypes::floating};
  static constexpr std::string_view gpu_library = "cuBLASLt", without_library = "in tiles";
  static void infer(shape_context& c);
  // The shape of the product of inputs `first` and `first + 1` of a node with those attributes, which this checks.
  static shape shape_of_product(const shape_context& c, int first);
  // The attributes of a node, as far as they are those of a product.
  static attributes attributes_of_product(const attributes& of);
  // Counts a multiplication and an addition for each of m x k x n.
  static double work(const work_context& c);
  // C = op(A) op(B): dA = dC op(B)^T and dB = op(A)^T dC, transposed once more where the operand was.
  static void gradient(gradient_context& g);
};

}}}  // namespace pinion::v0::op

#if PINION_HEADER_ONLY
#include <pinion/op/matmul/op.ipp>
#endif
