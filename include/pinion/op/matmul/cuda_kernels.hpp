// CUDA kernels of matrix products, as plain functions that take a stream. Nothing here knows the rest of pinion.
#pragma once

#include <cstdint>

struct CUstream_st;

namespace pinion { inline namespace v0 { namespace cuda {

// The extents of a row-major product [m, k] x [k, n]. The left matrix is stored as [k, m] when it is transposed, the
// right one as [n, k].
struct product_extents {
  std::int64_t m, n, k;
  bool transpose_a, transpose_b;
};

// c = a b, where nothing overlaps. An empty inner dimension yields zeros. The order of the additions depends on the
// extents alone. T is float or double.
template <class T>
void multiply(CUstream_st* stream, const T* a, const T* b, T* c, const product_extents& of);

}}}  // namespace pinion::v0::cuda
