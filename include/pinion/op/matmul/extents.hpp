// The extents of a matrix product, from the shapes of its factors.
#pragma once

#include <cstdint>
#include <string>

#include <pinion/base/error.hpp>
#include <pinion/tensor/shape.hpp>

namespace pinion { inline namespace v0 { namespace op { namespace detail {

// A product [m, k] x [k, n].
struct product_sides {
  std::int64_t m, n, k;
};

// Throws invalid_argument where the inner dimensions of two matrices, each transposed or not, differ.
inline product_sides sides_of_product(const shape& a, bool transpose_a, const shape& b, bool transpose_b) {
  const product_sides of{a[transpose_a ? 1 : 0], b[transpose_b ? 0 : 1], a[transpose_a ? 0 : 1]};
  if (b[transpose_b ? 1 : 0] != of.k)
    throw error(errc::invalid_argument,
                "matmul of shapes " + to_string(a) + " and " + to_string(b) + ": the inner dimensions differ");
  return of;
}

// Throws invalid_argument where a bias has another number of elements than a product has columns.
inline void expect_bias(const shape& bias, std::int64_t columns) {
  if (bias.rank() != 1 || bias[0] != columns)
    throw error(errc::invalid_argument,
                "a bias of shape " + to_string(bias) + " for a product of " + std::to_string(columns) + " columns");
}

}}}}  // namespace pinion::v0::op::detail
