// Folds of row-major tensors along one stretch of dimensions, as plain functions that take a stream. Nothing here knows
// the rest of pinion.
//
// The order in which elements are folded depends on extents alone.
#pragma once

#include <cstdint>

struct CUstream_st;

namespace pinion { inline namespace v0 { namespace cuda {

// The function that folds two elements into one. NaN is the greatest and the least; integers wrap around.
enum class fold_by { sum, product, greatest, least };

// A fold [outer, n, inner] -> [outer, inner] of a row-major tensor.
struct fold_extents {
  std::int64_t outer, n, inner;
};

// The elements of scratch memory that a fold needs for the results of its first stage; 0 where it has one stage.
template <class T>
std::int64_t fold_scratch(const fold_extents& of);

// Folds x into y, and divides the results by `divisor` where T is a floating type. Over no elements the result is that
// of an empty fold: 0, 1, the lowest value (-inf) or the highest. T is float, double, std::int32_t or std::int64_t, or
// std::uint8_t, whose folds are the greatest and the least: any and all of bools, which are bytes of 0 and 1.
template <class T>
void fold(CUstream_st* stream, fold_by how, const T* x, T* y, const fold_extents& of, std::int64_t divisor, T* scratch);

}}}  // namespace pinion::v0::cuda
