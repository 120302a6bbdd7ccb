// CUDA kernels of boxes, as plain functions that take a stream. Nothing here knows the rest of pinion.
#pragma once

#include <cstddef>
#include <cstdint>

struct CUstream_st;

namespace pinion { inline namespace v0 { namespace cuda {

// An axis of a tensor that lies in a larger one: its extent there, its own, and where it begins.
struct padded_axis {
  std::int64_t whole, inside, before;
};

inline constexpr int most_padded_axes = 8;

// Writes a row-major tensor that holds `from` and elements of one value around it. Elements have 1, 4 or 8 bytes, and
// `around` points to one in the host's memory.
void pad(CUstream_st* stream, const void* from, void* to, int element_bytes, const padded_axis* axes, int rank,
         const void* around);

// Some neighbouring columns of a tensor [outer, columns], which stand in a tensor of their own, [outer, length].
struct tensor_part {
  void* data;
  std::int64_t begin, length;
};
struct parted_extents {
  std::int64_t outer, columns;
};
// The way of a copy: of the whole into its parts, or of the parts into the whole.
enum class parts_way { cut, join };

// Copies parts, in elements of 1, 2, 4, 8 or 16 bytes, many of them by one kernel. Nothing overlaps.
void copy_parts(CUstream_st* stream, parts_way way, void* whole, int element_bytes, const parted_extents& extents,
                const tensor_part* parts, std::size_t count);

// An axis of a tensor that was repeated: its extent, and how often.
struct tiled_axis {
  std::int64_t extent, multiple;
};

// The bytes of scratch memory that sum_tiles wants, for elements of so many bytes.
std::size_t sum_tiles_scratch(const tiled_axis* axes, int rank, int element_bytes);

// Gives each element of a tensor the sum of the elements of `tiles` that were made of it. The order of the sum depends
// on the extents alone. T is float or double; at most 8 axes.
template <class T>
void sum_tiles(CUstream_st* stream, const T* tiles, T* to, const tiled_axis* axes, int rank, void* scratch);

}}}  // namespace pinion::v0::cuda
