// Sums of products of tensors: matrix products of any rank, and those that an equation of einsum names.
#pragma once

#include <pinion/base/config.hpp>
#include <pinion/op/matmul/compute_dtype.hpp>
#include <pinion/opkit/attribute_list.hpp>
#include <pinion/opkit/definition.hpp>

namespace pinion { inline namespace v0 { namespace op {

namespace detail {

// Ops that contract two tensors, or one, have these facts in common. Attribute "compute" (op/matmul/compute_dtype.hpp)
// is for two: one tensor has no product.
struct contracting {
  static constexpr bool bears_changing_inputs = true;
  static constexpr kernel_set kernels{.cpu = dtypes::floating | dtypes::signed_integers, .gpu = {}};
};

}  // namespace detail

// [..., m, k] x [..., k, n] -> [..., m, n], where the leading axes broadcast. "adj_x" and "adj_y" say that the last two
// axes of an operand are the other way round.
struct batch_matmul : detail::contracting {
  static constexpr std::string_view name = "BatchMatMulV2";
  static constexpr input_count inputs = 2;
  static constexpr attribute_list attrs =
      attribute_list{attr::flag("adj_x").optional(), attr::flag("adj_y").optional()} + compute_attribute;
  static void infer(shape_context& c);
  // Counts a multiplication and an addition for each of m x k x n of each matrix.
  static double work(const work_context& c);
  // For operands with the same leading axes it is two products like the forward one. Where they broadcast, or may, it
  // is made of einsum_like, which sums over the axes that an operand does not have.
  static void gradient(gradient_context& g);
};

// One tensor or two -> the sum, over all labels that the result of "equation" lacks, of the product of their elements.
// A label that stands twice in an operand goes along its diagonal. Axes of ellipses broadcast.
struct einsum : detail::contracting {
  static constexpr std::string_view name = "Einsum";
  static constexpr input_count inputs{1, 2};
  static constexpr attribute_list attrs = attribute_list{attr::text("equation")} + compute_attribute;
  static void infer(shape_context& c);
  static double work(const work_context& c);
  static void gradient(gradient_context& g);
};

// (operands..., like) -> einsum of the operands in the shape of `like`: axes of an ellipsis that `like` lacks, or has
// once only, are summed over; results are repeated along those that the operands lack, as labels of the result are that
// no operand has. A label that stands twice in the result leads along its diagonal, beside which are zeros. The
// gradient of einsum, of batch_matmul, and of its own operands.
struct einsum_like : detail::contracting {
  static constexpr std::string_view name = "EinsumLike";
  static constexpr input_count inputs{2, 3};
  static constexpr attribute_list attrs = einsum::attrs;
  static constexpr int reads = 2;
  static void infer(shape_context& c);
  static double work(const work_context& c);
  static void gradient(gradient_context& g);
};

}}}  // namespace pinion::v0::op

#if PINION_HEADER_ONLY
#include <pinion/op/einsum/op.ipp>
#endif
