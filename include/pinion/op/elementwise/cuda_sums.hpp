// Sums of numbers over axes along which an input was broadcast, as plain functions that take a stream. Nothing here
// knows the rest of pinion.
#pragma once

#include <cstdint>

struct CUstream_st;

namespace pinion { inline namespace v0 { namespace cuda {

// A row-major space and a result that has some of its dimensions, outermost first.
struct summed_space {
  static constexpr int most_rank = 8;

  int rank = 0;
  std::int64_t extent[most_rank] = {};
  bool is_kept[most_rank] = {};  // the result has this dimension
};

// Adds up the elements of a space in an order that depends on the space alone: the same bits in every run. The result
// of an empty space is 0. T is float or double.
template <class T>
void sum_over(CUstream_st* stream, const T* from, T* to, const summed_space& space);

}}}  // namespace pinion::v0::cuda
