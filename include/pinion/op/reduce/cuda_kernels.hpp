// CUDA kernels of reductions, as plain functions that take a stream. Nothing here knows the rest of pinion.
//
// The order in which elements are folded depends on extents alone.
#pragma once

#include <cstdint>

#include <pinion/device/cuda/fold.hpp>

struct CUstream_st;

namespace pinion { inline namespace v0 { namespace cuda {

// The index of the greatest of n elements, the first of equal ones; NaN counts as the greatest. Requires: n > 0. T is
// float, double, std::int32_t, std::int64_t or std::uint8_t.
template <class T>
void find_greatest(CUstream_st* stream, const T* x, std::int64_t* y, const fold_extents& of);

// Some dimensions of a tensor, the outermost first. A stride counts elements.
struct fold_walk {
  static constexpr int most = 8;
  int rank = 0;
  std::int64_t extent[most], stride[most];

  std::int64_t count() const {
    std::int64_t n = 1;
    for (int d = 0; d < rank; ++d) n *= extent[d];
    return n;
  }
  void push_back(std::int64_t along, std::int64_t by) {
    extent[rank] = along;
    stride[rank++] = by;
  }
};

// The means of integers, exact sums that are divided and rounded towards zero: y[i] is that of the n elements of x at
// the offsets of `folded`, from the i-th offset of `kept` on. The mean of no elements is 0. T is std::int32_t or
// std::int64_t.
template <class T>
void mean_of_integers(CUstream_st* stream, const T* x, T* y, const fold_walk& kept, const fold_walk& folded);

// y[i] = x[offset i of the walk] / divisor, for each place of the walk. Requires: a stride of the innermost dimension
// is 0 or 1. T is float, double, std::int32_t or std::int64_t.
template <class T>
void spread(CUstream_st* stream, const T* x, T* y, const fold_walk& walk, std::int64_t divisor);

// The gradient of products. The elements of a product are those of x at the offsets of `folded`, from the i-th offset
// of `kept` on. dx of an element is dy[i] times the product of the others. With weights, arrays like x, it is dy[i]
// times the sum, over all ways to choose a different element for each array, of the product of these elements of the
// arrays with the other elements of x. T is float or double.
template <class T>
struct product_weights {
  static constexpr int most = 20;
  int count = 0;
  const T* at[most];
};
template <class T>
void product_gradient(CUstream_st* stream, const T* dy, const T* x, const product_weights<T>& weights, T* dx,
                      const fold_walk& kept, const fold_walk& folded, T* scratch);

// The elements of scratch memory for that; 0 without weights.
inline std::int64_t product_gradient_scratch(int weights, const fold_walk& kept, const fold_walk& folded) {
  const std::int64_t n = folded.count();
  return weights == 0 || weights >= n ? 0 : (kept.count() * (n + 1)) << weights;
}

}}}  // namespace pinion::v0::cuda
