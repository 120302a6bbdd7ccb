// Work of variables on GPUs, as plain functions that take a stream. Nothing here knows the rest of pinion.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <pinion/device/cuda/bytes_copy.hpp>
#include <pinion/device/cuda/first_wrong.hpp>

struct CUstream_st;

namespace pinion { inline namespace v0 { namespace cuda {

// Copies bytes within the memory of a GPU. Throws std::runtime_error where CUDA refuses.
void copy_bytes(CUstream_st* stream, void* to, const void* from, std::size_t bytes);
// Makes all copies of a list, by one launch for each `copies_of_launch` of them.
inline constexpr std::size_t copies_of_launch = 32;
void copy_each(CUstream_st* stream, std::span<const bytes_copy> all);

// The rows of a variable that the n indices of a sparse gradient name, as sort_positions leaves them: `rows` in
// ascending order, and the positions that they had. A row stands for itself at the first of its places; other places,
// and those of rows from `extent` on, stand for none. A row has `size` elements.
struct named_rows {
  const std::uint32_t* rows;
  const std::uint32_t* positions;
  std::int64_t n, extent, size;
};

// Writes the gradient of each row to its place in `sums` [n, size]: the sum of the gradients that name it. Places that
// stand for no row get zeros. The order of a sum depends on the indices alone: pieces of the sorted ones are summed
// first, and `scratch` has sum_gradients_scratch(of) elements. T is float or double.
template <class T>
void sum_gradients(CUstream_st* stream, const T* gradients, T* sums, T* scratch, const named_rows& of);
std::int64_t sum_gradients_scratch(const named_rows& of);

// Copies each row of a variable to its place in `compact` [n, size]; other places get zeros. T is float or double.
template <class T>
void take_rows(CUstream_st* stream, const T* variable, T* compact, const named_rows& of);

// Copies each place that stands for a row back to the row, unless one of the places of `guard` has a wrong value.
template <class T>
void put_rows(CUstream_st* stream, const T* compact, T* variable, const named_rows& of, const wrong_places& guard);

// Copies bytes within the memory of a GPU if one of the places has a wrong value.
void copy_if_wrong(CUstream_st* stream, void* to, const void* from, std::size_t bytes, const wrong_places& of);

// Notes in `to` a wrong value if one of the places has one.
void note_any_wrong(CUstream_st* stream, first_wrong* to, const wrong_places& of);

}}}  // namespace pinion::v0::cuda
