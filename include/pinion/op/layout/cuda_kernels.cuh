// Bodies of <pinion/op/layout/cuda_kernels.hpp>.
#pragma once

#include <pinion/op/layout/cuda_kernels.hpp>
#include <pinion/op/layout/cuda_walk.cuh>

namespace pinion { inline namespace v0 { namespace cuda {

template <class Word, class Index>
__global__ void copy_along(const Word* x, Word* y, strided_walk<Index> walk, Index n) {
  constexpr int each = words_at_once<Word>;
  const Index step = gridDim.x * blockDim.x * each;
  for (Index first = blockIdx.x * blockDim.x * each + threadIdx.x; first < n; first += step) {
    Word held[each];
    Word* to[each];
    for (int k = 0; k < each; ++k) {
      const Index i = first + static_cast<Index>(k) * blockDim.x;
      const strided_place at = i < n ? walk.at(i) : strided_place{0, 0};
      held[k] = x[at.from];
      to[k] = y + at.to;
    }
    for (int k = 0; k < each; ++k)
      if (first + static_cast<Index>(k) * blockDim.x < n) *to[k] = held[k];
  }
}

// The planes of a transposition and one plane: rows of the source, which are along the result, and columns, which are
// contiguous in the source.
template <class Index>
struct planes {
  strided_walk<Index> outer;
  std::int64_t rows, columns;
  std::int64_t row_step, column_step;  // from one row to the next in the source, and from one column in the result
  divisor<Index> across_tiles, along_tiles;
};

template <class Word>
inline constexpr int tile_side = sizeof(Word) == 1 ? 64 : 32;

// Each block takes squares through shared memory, so that whole lines of memory are read and written.
template <class Word, class Index>
__global__ void transpose_tiles(const Word* x, Word* y, planes<Index> p, Index tiles) {
  constexpr int side = tile_side<Word>, pad = sizeof(Word) == 1 ? 4 : 1;
  __shared__ Word tile[side][side + pad];
  const int lane = static_cast<int>(threadIdx.x) % side, first = static_cast<int>(threadIdx.x) / side;
  const int lines = static_cast<int>(blockDim.x) / side;
  for (Index t = blockIdx.x; t < tiles; t += gridDim.x) {
    const Index row_of_tiles = p.across_tiles.quotient(t), plane = p.along_tiles.quotient(row_of_tiles);
    const auto column = static_cast<std::int64_t>(t - row_of_tiles * p.across_tiles.by) * side;
    const auto row = static_cast<std::int64_t>(row_of_tiles - plane * p.along_tiles.by) * side;
    const strided_place at = p.outer.at(plane);
    for (int i = first; i < side; i += lines)
      if (row + i < p.rows && column + lane < p.columns)
        tile[i][lane] = x[at.from + (row + i) * p.row_step + column + lane];
    __syncthreads();
    for (int i = first; i < side; i += lines)
      if (column + i < p.columns && row + lane < p.rows)
        y[at.to + (column + i) * p.column_step + row + lane] = tile[lane][i];
    __syncthreads();
  }
}

// A copy along merged axes, which chooses its kernel.
class strided_copy {
 public:
  strided_copy(const void* from, void* to, int element_bytes, const strided_axis* axes, int rank)
      : from_(from), to_(to), bytes_(element_bytes) {
    for (int i = 0; i < rank; ++i) axes_[i] = axes[i];
    rank_ = merge_axes(axes_, rank);
  }

  void run(cudaStream_t stream) {
    const int columns = columns_of_tiles();
    if (columns >= 0) return run_tiles(stream, columns);
    widen();
    const std::int64_t n = count_of(axes_, rank_);
    visit_word(bytes_, [&]<class Word>() {
      visit_index(n, [&]<class Index>() {
        launch(stream, copy_along<Word, Index>, blocks_for((n - 1) / words_at_once<Word> + 1), threads_of_block,
               static_cast<const Word*>(from_), static_cast<Word*>(to_), strided_walk<Index>(axes_, rank_),
               static_cast<Index>(n));
      });
    });
  }

 private:
  // The axis along which the source is contiguous while the result is contiguous along the last one. -1: there is
  // none, or these axes are too short to be worth tiles.
  int columns_of_tiles() const {
    constexpr std::int64_t shortest = 8;
    if (rank_ < 2 || bytes_ == 2 || bytes_ == 16) return -1;
    const strided_axis& last = axes_[rank_ - 1];
    if (last.from == 1 || last.to != 1 || last.extent < shortest) return -1;
    for (int i = 0; i + 1 < rank_; ++i)
      if (axes_[i].from == 1 && axes_[i].extent >= shortest) return i;
    return -1;
  }

  // Makes elements of as many as one access can take, where both tensors are contiguous along the last axis.
  void widen() {
    if (rank_ == 0 || axes_[rank_ - 1].from != 1 || axes_[rank_ - 1].to != 1) return;
    word_width width(bytes_);
    width.divides(from_);
    width.divides(to_);
    width.divides(axes_[rank_ - 1].extent);
    for (int i = 0; i + 1 < rank_; ++i) {
      width.divides(axes_[i].from);
      width.divides(axes_[i].to);
    }
    axes_[rank_ - 1].extent /= width.elements();
    for (int i = 0; i + 1 < rank_; ++i) {
      axes_[i].from /= width.elements();
      axes_[i].to /= width.elements();
    }
    bytes_ = width.bytes();
  }

  void run_tiles(cudaStream_t stream, int columns) const {
    switch (bytes_) {
      case 1: return run_tiles_of<std::uint8_t>(stream, columns);
      case 4: return run_tiles_of<std::uint32_t>(stream, columns);
      default: return run_tiles_of<std::uint64_t>(stream, columns);
    }
  }
  template <class Word>
  void run_tiles_of(cudaStream_t stream, int columns) const {
    const strided_axis row = axes_[rank_ - 1], column = axes_[columns];
    strided_axis outer[most_strided_axes];
    for (int i = 0, k = 0; i + 1 < rank_; ++i)
      if (i != columns) outer[k++] = axes_[i];
    const std::int64_t along = (row.extent - 1) / tile_side<Word> + 1,
                       across = (column.extent - 1) / tile_side<Word> + 1;
    const std::int64_t tiles = count_of(outer, rank_ - 2) * along * across;
    visit_index(tiles, [&]<class Index>() {
      const planes<Index> p{strided_walk<Index>(outer, rank_ - 2),
                            row.extent,
                            column.extent,
                            row.from,
                            column.to,
                            divisor<Index>(across),
                            divisor<Index>(along)};
      launch(stream, transpose_tiles<Word, Index>, blocks_for(tiles * threads_of_block), threads_of_block,
             static_cast<const Word*>(from_), static_cast<Word*>(to_), p, static_cast<Index>(tiles));
    });
  }

  const void* from_;
  void* to_;
  int bytes_, rank_ = 0;
  strided_axis axes_[most_strided_axes];
};

void copy_strided(CUstream_st* stream, const void* from, void* to, int element_bytes, const strided_axis* axes,
                  int rank) {
  if (count_of(axes, rank) > 0) strided_copy(from, to, element_bytes, axes, rank).run(stream);
}

}}}  // namespace pinion::v0::cuda
