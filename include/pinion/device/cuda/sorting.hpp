// A stable sort of indices on the device, for ops that add up what several positions give one row. Nothing here knows
// the rest of pinion.
#pragma once

#include <cstddef>
#include <cstdint>

#include <pinion/device/cuda/first_wrong.hpp>

struct CUstream_st;

namespace pinion { inline namespace v0 { namespace cuda {

// The bytes of scratch memory that sort_positions wants for n indices in [0, rows). Throws std::runtime_error for 2^31
// indices or 2^32 - 1 rows, which it does not sort. Requires: the device of the stream is the current one.
std::size_t sort_positions_scratch(std::int64_t n, std::int64_t rows);

// Sorts n indices, T being std::int32_t or std::int64_t: `rows_sorted` gets them in ascending order, and
// `positions` the place among the indices that each had. Equal ones stay in their order. An index outside [0, rows) is
// sorted as `rows`, which stands behind all others, and is noted in `wrong` unless that is null. `scratch` is aligned
// to 256 bytes. Never waits for the device.
template <class T>
void sort_positions(CUstream_st* stream, const T* indices, std::int64_t n, std::int64_t rows,
                    std::uint32_t* rows_sorted, std::uint32_t* positions, void* scratch, first_wrong* wrong);

}}}  // namespace pinion::v0::cuda
