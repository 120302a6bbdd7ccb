// Products of matrices in tiles, whose operands a pass reads where they are. Nothing here knows the rest of pinion.
//
// A pass has, for a product [rows, depth] x [depth, columns]:
//   row, level             what it works out once for a row of the left operand, and once for a place of the depth
//   row_at(r), level_at(k) these; they may lie beyond the end, and are not read then
//   a(row, level)          an element of the left operand
//   b(k, column)           an element of the right one
//   a_along_depth, b_along_depth
//                          whether neighbours in memory are neighbours along the depth
#pragma once

#include <algorithm>
#include <cstdint>

#include <pinion/device/cuda/divide.cuh>
#include <pinion/device/cuda/launch.cuh>
#include <pinion/op/matmul/cuda_kernels.hpp>

namespace pinion { inline namespace v0 { namespace cuda {

inline constexpr int product_side = 64, product_depth = 16, own_side = 4;
static_assert(threads_of_block == product_side / own_side * product_side / own_side);

// The squares of 64 by 64 results, and the parts of the depth.
struct product_tiles {
  std::int64_t rows, columns, depth, parts = 1;

  __host__ __device__ std::int64_t across() const { return (columns + product_side - 1) / product_side; }
  __host__ __device__ std::int64_t squares() const { return (rows + product_side - 1) / product_side * across(); }
  __host__ __device__ std::int64_t depth_of_part() const {
    return ((depth + parts - 1) / parts + product_depth - 1) / product_depth * product_depth;
  }
  // The elements of scratch memory for the parts.
  std::int64_t scratch() const { return parts == 1 ? 0 : parts * rows * columns; }
};

// Tiles that cut a great depth where the squares are too few to give a large GPU work.
inline product_tiles cut_tiles(std::int64_t rows, std::int64_t columns, std::int64_t depth) {
  constexpr std::int64_t enough_blocks = 512, least_depth = 256;
  product_tiles t{rows, columns, depth};
  const std::int64_t wanted = enough_blocks / std::max<std::int64_t>(1, t.squares());
  t.parts = std::max<std::int64_t>(1, std::min(wanted, depth / least_depth));
  return t;
}

// The element `at` of a product, which is in that column, from its sum.
template <class T>
__device__ __forceinline__ T ended(T sum, std::int64_t at, std::int64_t column, const product_end<T>& end) {
  if (end.bias) sum += end.bias[column];
  if (end.gate && !(end.gate[at] > T(0))) return T(0);
  return end.relu && sum <= T(0) ? T(0) : sum;
}

template <class T>
struct alignas(16) operand_tile {
  T of[product_depth][product_side + 4];
};

// The element of a tile that a thread loads in round j: its place across the tile, and its depth.
struct tile_place {
  int at, depth;
};
template <bool AlongDepth>
__device__ tile_place place_in_tile(int thread, int j) {
  if constexpr (AlongDepth) return {thread / product_depth + j * (256 / product_depth), thread % product_depth};
  return {thread % product_side, thread / product_side + j * (256 / product_side)};
}

template <class T, class Pass>
__device__ void load_tiles(const Pass& pass, const product_tiles& t, const typename Pass::row (&rows)[4],
                           std::int64_t row, std::int64_t column, std::int64_t k, std::int64_t end, operand_tile<T>& a,
                           operand_tile<T>& b) {
  const int thread = static_cast<int>(threadIdx.x);
  typename Pass::level level{};
  if (Pass::a_along_depth) level = pass.level_at(k + place_in_tile<true>(thread, 0).depth);
  for (int j = 0; j < 4; ++j) {
    const tile_place p = place_in_tile<Pass::a_along_depth>(thread, j);
    const bool inside = row + p.at < t.rows && k + p.depth < end;
    if (!Pass::a_along_depth && inside) level = pass.level_at(k + p.depth);
    a.of[p.depth][p.at] = inside ? pass.a(rows[Pass::a_along_depth ? j : 0], level) : T(0);
  }
  for (int j = 0; j < 4; ++j) {
    const tile_place p = place_in_tile<Pass::b_along_depth>(thread, j);
    const bool inside = column + p.at < t.columns && k + p.depth < end;
    b.of[p.depth][p.at] = inside ? pass.b(k + p.depth, column + p.at) : T(0);
  }
}

// A block computes a square of the results, of which each thread has 4 by 4, over one part of the depth. Part p of all
// results stands behind part p - 1.
template <class T, class Pass>
__global__ void multiply_tiles(Pass pass, product_tiles t, T* to, product_end<T> at_last) {
  __shared__ operand_tile<T> a, b;
  const int thread = static_cast<int>(threadIdx.x);
  const int own_row = thread / (product_side / own_side) * own_side,
            own_column = thread % (product_side / own_side) * own_side;
  for (std::int64_t unit = blockIdx.x; unit < t.squares() * t.parts; unit += gridDim.x) {
    const std::int64_t part = unit / t.squares(), square = unit - part * t.squares();
    const std::int64_t row = square / t.across() * product_side, column = square % t.across() * product_side;
    const std::int64_t begin = part * t.depth_of_part(), past = begin + t.depth_of_part(),
                       end = past < t.depth ? past : t.depth;
    typename Pass::row rows[4]{};
    for (int j = 0; j < (Pass::a_along_depth ? 4 : 1); ++j)
      rows[j] = pass.row_at(row + place_in_tile<Pass::a_along_depth>(thread, j).at);
    T sum[own_side][own_side]{};
    for (std::int64_t k = begin; k < end; k += product_depth) {
      load_tiles(pass, t, rows, row, column, k, end, a, b);
      __syncthreads();
      for (int d = 0; d < product_depth; ++d)
        for (int i = 0; i < own_side; ++i)
          for (int j = 0; j < own_side; ++j) sum[i][j] += a.of[d][own_row + i] * b.of[d][own_column + j];
      __syncthreads();
    }
    for (int i = 0; i < own_side; ++i)
      for (int j = 0; j < own_side; ++j)
        if (row + own_row + i < t.rows && column + own_column + j < t.columns) {
          const std::int64_t at = (part * t.rows + row + own_row + i) * t.columns + column + own_column + j;
          to[at] = ended(sum[i][j], at, column + own_column + j, at_last);
        }
  }
}

// Adds up the parts in their order, and ends the sums. There may be one part, in the place of the result.
template <class T, class Index>
__global__ void sum_product_parts(const T* parts, T* to, divisor<Index> columns, Index n, Index count,
                                  product_end<T> end) {
  const Index step = gridDim.x * blockDim.x;
  for (Index i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) {
    T sum = parts[i];
    for (Index p = 1; p < count; ++p) sum += parts[static_cast<std::uint64_t>(p) * n + i];
    to[i] =
        ended(sum, static_cast<std::int64_t>(i), static_cast<std::int64_t>(i - columns.quotient(i) * columns.by), end);
  }
}

template <class T>
void end_parts(cudaStream_t stream, const T* parts, T* to, const product_tiles& t, const product_end<T>& end) {
  const std::int64_t n = t.rows * t.columns;
  const auto with = [&]<class Index>() {
    launch(stream, sum_product_parts<T, Index>, blocks_for(n), threads_of_block, parts, to, divisor<Index>(t.columns),
           static_cast<Index>(n), static_cast<Index>(t.parts), end);
  };
  if (n > 0) is_short(n) ? with.template operator()<std::uint32_t>() : with.template operator()<std::uint64_t>();
}

// Computes a product. `scratch` has as many elements as the tiles say.
template <class T, class Pass>
void run_pass(cudaStream_t stream, const Pass& pass, const product_tiles& t, T* to, T* scratch,
              const product_end<T>& end = {}) {
  if (t.rows == 0 || t.columns == 0) return;
  const bool is_whole = t.parts == 1;
  launch(stream, multiply_tiles<T, Pass>, blocks_for(t.squares() * t.parts * threads_of_block), threads_of_block, pass,
         t, is_whole ? to : scratch, is_whole ? end : product_end<T>{});
  if (!is_whole) end_parts<T>(stream, scratch, to, t, end);
}

}}}  // namespace pinion::v0::cuda
