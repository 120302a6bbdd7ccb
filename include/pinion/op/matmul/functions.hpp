// The matrix product.
//
//   auto h = pn::matmul(x, w);                            // [m, k] x [k, n] -> [m, n]
//   auto g = pn::matmul(x, dy, {.transpose_a = true});    // [m, k], [m, n] -> [k, n]
#pragma once

#include <string_view>
#include <utility>

#include <pinion/dsl/node_call.hpp>
#include <pinion/op/matmul/op.hpp>

namespace pinion { inline namespace v0 {

// Options of matmul: the operands to transpose first. Each matrix is read transposed in place; no copy of it is made. A
// name becomes that of the node, "MatMul" otherwise.
struct matmul_options {
  bool transpose_a = false;
  bool transpose_b = false;
  std::string_view name = {};
};

// The product of two matrices, [m, k] x [k, n] -> [m, n], of float, double, int32 or int64. Throws invalid_argument
// where an operand is no matrix, and where the inner extents differ. Differentiable by both operands where they are
// float or double. An unknown extent is compared when the step runs. Sums of int32 and int64 wrap around. On a CPU,
// float is computed by oneDNN and double by a CBLAS where pinion was configured with them, so the order of the
// additions is theirs; a plain loop computes the rest. A vector has no product here: pn::expand_dims(v, 1) makes a
// column [k, 1] of it, and pn::squeeze takes the axis away again. TensorFlow: tf.matmul, for operands of rank 2.
//
// The gradients are two products, by a: dy b^T, and by b: a^T dy, with the operands transposed as the options say.
template <dsl::graph_operand A, dsl::graph_operand B>
auto matmul(A&& a, B&& b, const matmul_options& options = {}, source_location where = source_location::current()) {
  using T = dsl::value_of<A>;
  static_assert(dsl::same_dtype<T, dsl::value_of<B>>,
                "the operands have different dtypes; pn::cast<T>(x) converts one of them");
  return dsl::node_call<op::matmul, T>(options.name, where,
                                       {{"transpose_a", options.transpose_a}, {"transpose_b", options.transpose_b}},
                                       std::forward<A>(a), std::forward<B>(b));
}

}}  // namespace pinion::v0
