// A product of matrices in memory.
#pragma once

#include <cstdint>

#include <pinion/base/dtype.hpp>

namespace pinion { inline namespace v0 { namespace op {

// A row-major product [m, k] x [k, n]. `a` is stored as [k, m] when it is transposed, `b` as [n, k].
template <class T>
struct product {
  const T* a;
  const T* b;
  T* c;
  std::int64_t m, n, k;
  bool transpose_a, transpose_b;
  // Elements from one stored row to the next, which are more than a row has in a part of a product.
  std::int64_t lda = transpose_a ? m : k, ldb = transpose_b ? k : n, ldc = n;
  // Whether the product is added to what c holds.
  bool add = false;
  // Operands of float are rounded to this dtype first, half or bfloat16; float32 leaves them as they are.
  dtype compute = dtype::float32;

  // The part that makes `count` rows of c from row `first` on.
  product rows(std::int64_t first, std::int64_t count) const {
    product part = *this;
    part.a += first * (transpose_a ? 1 : lda);
    part.c += first * ldc;
    part.m = count;
    return part;
  }
  // The part that makes `count` columns of c from column `first` on.
  product columns(std::int64_t first, std::int64_t count) const {
    product part = *this;
    part.b += first * (transpose_b ? ldb : 1);
    part.c += first;
    part.n = count;
    return part;
  }
};

}}}  // namespace pinion::v0::op
