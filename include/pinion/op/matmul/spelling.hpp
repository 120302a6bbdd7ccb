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

// Options of matmul: the operands to transpose first.
struct matmul_options {
  bool transpose_a = false;
  bool transpose_b = false;
  std::string_view name = {};
};

// The product of two matrices, [m, k] x [k, n] -> [m, n], of float, double, int32 or int64. Throws invalid_argument
// where an operand is no matrix, and where the inner extents differ. Differentiable by both operands where they are
// float or double.
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
