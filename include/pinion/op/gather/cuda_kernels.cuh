// Bodies of <pinion/op/gather/cuda_kernels.hpp>.
#pragma once

#include <cstring>

#include <pinion/device/cuda/row_runs.cuh>
#include <pinion/device/cuda/wrong_values.cuh>
#include <pinion/op/gather/cuda_kernels.hpp>
#include <pinion/op/layout/cuda_walk.cuh>
#include <pinion/op/source/cuda_kernels.hpp>

namespace pinion { inline namespace v0 { namespace cuda {

// ---- rows that are copied

template <class Count>
struct row_walk {
  divisor<Count> n, inner;
  std::int64_t rows;

  // The offset of a row in [outer, rows, inner].
  __device__ std::int64_t offset(Count outer, std::int64_t row) const {
    return (static_cast<std::int64_t>(outer) * rows + row) * static_cast<std::int64_t>(inner.by);
  }
};

// Element i of [outer, n, inner] comes from the row that its index names; the first element of each index checks it.
template <class Word, class Count, class Index>
__global__ void gather_words(const Word* x, const Index* indices, Word* y, row_walk<Count> walk, Count count,
                             first_wrong* wrong) {
  constexpr int each = words_at_once<Word>;
  const Count step = gridDim.x * blockDim.x * each;
  for (Count first = blockIdx.x * blockDim.x * each + threadIdx.x; first < count; first += step) {
    Word held[each]{};
    for (int k = 0; k < each; ++k) {
      const Count i = first + static_cast<Count>(k) * blockDim.x;
      if (i >= count) break;
      const Count row = walk.inner.quotient(i), outer = walk.n.quotient(row), at = row - outer * walk.n.by;
      const auto index = static_cast<std::int64_t>(indices[at]);
      if (index >= 0 && index < walk.rows)
        held[k] = x[walk.offset(outer, index) + static_cast<std::int64_t>(i - row * walk.inner.by)];
      else if (i == at * walk.inner.by)
        note_wrong(wrong, static_cast<std::int64_t>(at));
    }
    for (int k = 0; k < each; ++k) {
      const Count i = first + static_cast<Count>(k) * blockDim.x;
      if (i < count) y[i] = held[k];
    }
  }
}

template <class Index>
__global__ void check_rows(const Index* indices, std::int64_t n, std::int64_t rows, first_wrong* wrong) {
  const std::int64_t step = std::int64_t{gridDim.x} * blockDim.x;
  for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += step)
    if (indices[i] < 0 || static_cast<std::int64_t>(indices[i]) >= rows) note_wrong(wrong, i);
}

template <class Index>
void gather_rows(CUstream_st* stream, const void* from, const Index* indices, void* to, int element_bytes,
                 const chosen_rows& extents, first_wrong* wrong) {
  if (extents.n == 0) return;
  word_width width(element_bytes);
  width.divides(from);
  width.divides(to);
  width.divides(extents.inner);
  const std::int64_t inner = extents.inner / width.elements(), count = extents.outer * extents.n * inner;
  if (count == 0)
    launch(stream, check_rows<Index>, blocks_for(extents.n), threads_of_block, indices, extents.n, extents.rows, wrong);
  else
    visit_word(width.bytes(), [&]<class Word>() {
      visit_index(count, [&]<class Count>() {
        launch(stream, gather_words<Word, Count, Index>, blocks_for((count - 1) / words_at_once<Word> + 1),
               threads_of_block, static_cast<const Word*>(from), indices, static_cast<Word*>(to),
               row_walk<Count>{divisor<Count>(extents.n), divisor<Count>(inner), extents.rows},
               static_cast<Count>(count), wrong);
      });
    });
  keep_value(stream, indices, wrong);
}

template void gather_rows(CUstream_st*, const void*, const std::int32_t*, void*, int, const chosen_rows&, first_wrong*);
template void gather_rows(CUstream_st*, const void*, const std::int64_t*, void*, int, const chosen_rows&, first_wrong*);

// ---- rows that are added up

inline row_runs runs_of(const std::uint32_t* rows_sorted, const std::uint32_t* positions, const chosen_rows& of) {
  return {rows_sorted, positions, of.outer, of.n, of.inner, of.rows};
}

std::int64_t add_rows_scratch(const chosen_rows& extents) {
  return runs_of(nullptr, nullptr, extents).scratch();
}

template <class T>
void add_rows(CUstream_st* stream, const T* values, const std::uint32_t* rows_sorted, const std::uint32_t* positions,
              T* to, T* scratch, const chosen_rows& extents) {
  fill(stream, to, extents.outer * extents.rows * extents.inner, T(0));
  sum_runs<run_target::row>(stream, values, to, scratch, runs_of(rows_sorted, positions, extents));
}

#define PINION_ADD_ROWS(T)                                                                           \
  template void add_rows(CUstream_st*, const T*, const std::uint32_t*, const std::uint32_t*, T*, T*, \
                         const chosen_rows&);
PINION_ADD_ROWS(float)
PINION_ADD_ROWS(double)
PINION_ADD_ROWS(std::int32_t)
PINION_ADD_ROWS(std::int64_t)
#undef PINION_ADD_ROWS

// ---- one-hot rows

template <class Word, class Count, class Index>
__global__ void mark_places(const Index* indices, Word* to, divisor<Count> depth, Count count, Word one) {
  const Count step = gridDim.x * blockDim.x;
  for (Count i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step) {
    const Count row = depth.quotient(i);
    to[i] = static_cast<std::int64_t>(indices[row]) == static_cast<std::int64_t>(i - row * depth.by) ? one : Word(0);
  }
}

template <class Word, class Index>
void one_hot_words(cudaStream_t stream, const Index* indices, Word* to, std::int64_t n, std::int64_t depth,
                   const void* one) {
  Word bits;
  std::memcpy(&bits, one, sizeof bits);
  visit_index(n * depth, [&]<class Count>() {
    launch(stream, mark_places<Word, Count, Index>, blocks_for(n * depth), threads_of_block, indices, to,
           divisor<Count>(depth), static_cast<Count>(n * depth), bits);
  });
}

template <class Index>
void one_hot(CUstream_st* stream, const Index* indices, void* to, int element_bytes, std::int64_t n, std::int64_t depth,
             const void* one) {
  if (n * depth == 0) return;
  switch (element_bytes) {
    case 1: return one_hot_words(stream, indices, static_cast<std::uint8_t*>(to), n, depth, one);
    case 4: return one_hot_words(stream, indices, static_cast<std::uint32_t*>(to), n, depth, one);
    default: return one_hot_words(stream, indices, static_cast<std::uint64_t*>(to), n, depth, one);
  }
}

template void one_hot(CUstream_st*, const std::uint8_t*, void*, int, std::int64_t, std::int64_t, const void*);
template void one_hot(CUstream_st*, const std::int32_t*, void*, int, std::int64_t, std::int64_t, const void*);
template void one_hot(CUstream_st*, const std::int64_t*, void*, int, std::int64_t, std::int64_t, const void*);

}}}  // namespace pinion::v0::cuda
