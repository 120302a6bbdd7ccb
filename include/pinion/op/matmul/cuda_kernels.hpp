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

// The end of a product: a bias of its column is added to each element, unless that is null; what is not above 0 becomes
// 0, if `relu`; and what stands where `gate`, a matrix like the product, is not above 0, unless that is null. An
// element that is NaN stays NaN; a gate that is NaN is shut.
template <class T>
struct product_end {
  const T* bias = nullptr;
  bool relu = false;
  const T* gate = nullptr;

  bool is_plain() const { return !bias && !relu && !gate; }
};

// c = a b, where nothing overlaps. An empty inner dimension yields zeros. The order of the additions depends on the
// extents alone: a long inner dimension of a small product is cut into parts, for which `scratch` has
// multiply_scratch(of) elements. T is float or double.
template <class T>
void multiply(CUstream_st* stream, const T* a, const T* b, T* c, T* scratch, const product_extents& of,
              const product_end<T>& end = {});
std::int64_t multiply_scratch(const product_extents& of);

// Ends a product [m, n] that stands in c already.
template <class T>
void end_product(CUstream_st* stream, T* c, std::int64_t m, std::int64_t n, const product_end<T>& end);

}}}  // namespace pinion::v0::cuda
