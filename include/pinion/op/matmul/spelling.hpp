// Matrix products.
#pragma once

#include <string_view>
#include <utility>

#include <pinion/dsl/node_call.hpp>
#include <pinion/op/matmul/op.hpp>

namespace pinion { inline namespace v0 {

struct matmul_options {
  bool transpose_a = false;
  bool transpose_b = false;
  std::string_view name = {};
};

// [m, k] x [k, n] -> [m, n], operands transposed first where asked. float, double, int32, int64.
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
