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

// Throws invalid_argument where the mask of a relu, which is not empty, has not the shape that the library gives one.
inline void expect_mask(const shape& mask, const shape& wanted) {
  if (mask != wanted)
    throw error(errc::invalid_argument,
                "a mask of shape " + to_string(mask) + " for a relu that has one of shape " + to_string(wanted));
}

}}}}  // namespace pinion::v0::op::detail
