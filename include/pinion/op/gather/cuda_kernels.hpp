// CUDA kernels of rows by index, as plain functions that take a stream. Nothing here knows the rest of pinion.
#pragma once

#include <cstdint>

#include <pinion/device/cuda/first_wrong.hpp>

struct CUstream_st;

namespace pinion { inline namespace v0 { namespace cuda {

// A tensor seen as [outer, rows, inner], whose rows are chosen by n indices.
struct chosen_rows {
  std::int64_t outer, rows, inner, n;
};

// Copies the rows that n indices choose into a tensor [outer, n, inner], in elements of 1, 2, 4, 8 or 16 bytes. An
// index outside [0, rows) is noted in `wrong`, and its rows become 0. Index is std::int32_t or std::int64_t.
template <class Index>
void gather_rows(CUstream_st* stream, const void* from, const Index* indices, void* to, int element_bytes,
                 const chosen_rows& extents, first_wrong* wrong);

// Writes a tensor [outer, rows, inner] in which each row is the sum of those of `values` [outer, n, inner] that have
// its index. The indices are what sort_positions wrote; `rows` among them stands for none. The order of a sum depends
// on the indices alone: pieces of the sorted ones are summed first, and `scratch` has add_rows_scratch(extents)
// elements. T is float, double, std::int32_t or std::int64_t; the integers wrap around.
template <class T>
void add_rows(CUstream_st* stream, const T* values, const std::uint32_t* rows_sorted, const std::uint32_t* positions,
              T* to, T* scratch, const chosen_rows& extents);
std::int64_t add_rows_scratch(const chosen_rows& extents);

// Writes [n, depth] elements: 1, whose bits `one` points to in the host's memory, at the index, and 0 elsewhere. Index
// is std::uint8_t, std::int32_t or std::int64_t; elements have 1, 4 or 8 bytes.
template <class Index>
void one_hot(CUstream_st* stream, const Index* indices, void* to, int element_bytes, std::int64_t n, std::int64_t depth,
             const void* one);

}}}  // namespace pinion::v0::cuda
