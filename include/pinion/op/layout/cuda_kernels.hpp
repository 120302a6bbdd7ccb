// CUDA kernels that move elements, as plain functions that take a stream. Nothing here knows the rest of pinion.
#pragma once

#include <cstdint>

struct CUstream_st;

namespace pinion { inline namespace v0 { namespace cuda {

// An axis of a copy: its extent, and the steps from one index to the next in the source and in the result, in elements.
struct strided_axis {
  std::int64_t extent, from, to;
};

inline constexpr int most_strided_axes = 16;

// Copies elements of 1, 2, 4, 8 or 16 bytes along up to most_strided_axes axes, outermost first. The source and the
// result do not overlap. An axis whose step in the source is 0 repeats elements; a result that is written row by row
// makes the best use of memory.
void copy_strided(CUstream_st* stream, const void* from, void* to, int element_bytes, const strided_axis* axes,
                  int rank);

}}}  // namespace pinion::v0::cuda
