// Bodies of <pinion/op/matmul/cuda_kernels.hpp>.
#pragma once

#include <pinion/device/cuda/launch.cuh>
#include <pinion/op/matmul/cuda_kernels.hpp>

namespace pinion { inline namespace v0 { namespace cuda {

// A block makes a tile of c. It holds slices of both operands at a time, and a thread makes a square of the tile.
struct product_tile {
  static constexpr int side = 64, depth = 16, square = 4;
  static constexpr int across = side / square;  // threads along a side
  static_assert(across * across == threads_of_block);
};

// A matrix in memory, seen as lines of k elements: the rows of a, or the columns of b. The elements of a line
// are neighbours in memory, or else those of different lines at the same place are.
template <class T>
struct product_lines {
  const T* first;
  std::int64_t lines, k;
  bool in_line;

  __device__ T at(std::int64_t line, std::int64_t place) const {
    if (line >= lines || place >= k) return T(0);
    return first[in_line ? line * k + place : place * lines + line];
  }
  // Loads a slice, so that threads that are neighbours read neighbours.
  __device__ void load(std::int64_t line, std::int64_t place,
                       T (&slice)[product_tile::depth][product_tile::side + 1]) const {
    constexpr int size = product_tile::side * product_tile::depth;
    for (int i = static_cast<int>(threadIdx.x); i < size; i += threads_of_block) {
      const int l = in_line ? i / product_tile::depth : i % product_tile::side;
      const int p = in_line ? i % product_tile::depth : i / product_tile::side;
      slice[p][l] = at(line + l, place + p);
    }
  }
};

template <class T>
__global__ void multiply_tiles(product_lines<T> a, product_lines<T> b, T* c, std::int64_t tiles_across) {
  using tile = product_tile;
  __shared__ T left[tile::depth][tile::side + 1];
  __shared__ T right[tile::depth][tile::side + 1];
  const std::int64_t down = blockIdx.x / tiles_across * tile::side, along = blockIdx.x % tiles_across * tile::side;
  const int row = static_cast<int>(threadIdx.x) / tile::across, column = static_cast<int>(threadIdx.x) % tile::across;
  T sums[tile::square][tile::square] = {};
  for (std::int64_t place = 0; place < a.k; place += tile::depth) {
    a.load(down, place, left);
    b.load(along, place, right);
    __syncthreads();
#pragma unroll
    for (int p = 0; p < tile::depth; ++p) {
      T x[tile::square], y[tile::square];
#pragma unroll
      for (int i = 0; i < tile::square; ++i) {
        x[i] = left[p][row + i * tile::across];
        y[i] = right[p][column + i * tile::across];
      }
#pragma unroll
      for (int i = 0; i < tile::square; ++i)
#pragma unroll
        for (int j = 0; j < tile::square; ++j) sums[i][j] += x[i] * y[j];
    }
    __syncthreads();
  }
  for (int i = 0; i < tile::square; ++i)
    for (int j = 0; j < tile::square; ++j) {
      const std::int64_t r = down + row + i * tile::across, q = along + column + j * tile::across;
      if (r < a.lines && q < b.lines) c[r * b.lines + q] = sums[i][j];
    }
}

template <class T>
void multiply(CUstream_st* stream, const T* a, const T* b, T* c, const product_extents& of) {
  if (of.m == 0 || of.n == 0) return;
  constexpr std::int64_t side = product_tile::side;
  const std::int64_t tiles_down = (of.m + side - 1) / side, tiles_across = (of.n + side - 1) / side;
  launch(stream, multiply_tiles<T>, static_cast<unsigned>(tiles_down * tiles_across), threads_of_block,
         product_lines<T>{a, of.m, of.k, !of.transpose_a}, product_lines<T>{b, of.n, of.k, of.transpose_b}, c,
         tiles_across);
}

template void multiply(CUstream_st*, const float*, const float*, float*, const product_extents&);
template void multiply(CUstream_st*, const double*, const double*, double*, const product_extents&);

}}}  // namespace pinion::v0::cuda
