// Bodies of <pinion/op/reduce/cuda_kernels.hpp>: the greatest elements, means of integers, and gradients.
#pragma once

#include <algorithm>

#include <pinion/device/cuda/block.cuh>
#include <pinion/device/cuda/launch.cuh>
#include <pinion/op/reduce/cuda_kernels.hpp>

namespace pinion { inline namespace v0 { namespace cuda {

// ---- the greatest element

// An element that may be the greatest; there is none where its index is negative.
template <class T>
struct candidate {
  T value;
  std::int64_t at;
};

template <class T>
__device__ __forceinline__ candidate<T> of_lane_across(const candidate<T>& mine, int step) {
  return {of_lane_across(mine.value, step), of_lane_across(mine.at, step)};
}

struct fold_greatest {
  template <class T>
  static __device__ __forceinline__ candidate<T> combine(candidate<T> a, candidate<T> b) {
    if (a.at < 0 || b.at < 0) return a.at < 0 ? b : a;
    const bool a_is_nan = a.value != a.value, b_is_nan = b.value != b.value;
    const bool equal = a.value == b.value || (a_is_nan && b_is_nan);
    if (equal) return a.at < b.at ? a : b;
    return b_is_nan || (!a_is_nan && b.value > a.value) ? b : a;
  }
};

// The greatest of neighbours: each result is the work of so many threads.
template <class T>
__global__ void find_greatest_of_each(const T* x, std::int64_t* y, std::int64_t results, std::int64_t n, int threads) {
  const int groups = static_cast<int>(blockDim.x) / threads, lane = static_cast<int>(threadIdx.x) % threads;
  for (std::int64_t first = std::int64_t{blockIdx.x} * groups; first < results;
       first += std::int64_t{gridDim.x} * groups) {
    const std::int64_t result = first + static_cast<int>(threadIdx.x) / threads;
    const bool is_there = result < results;
    const T* const from = x + result * n;
    candidate<T> best{T(0), -1};
    for (std::int64_t i = lane; i < (is_there ? n : 0); i += threads)
      best = fold_greatest::combine(best, candidate<T>{from[i], i});
    best = fold_group<fold_greatest>(best, threads);
    if (is_there && lane == 0) y[result] = best.at;
  }
}

// The greatest of columns: a block takes a tile of them, whose threads are next to each other, and `parts` of the rows
// below.
template <class T>
__global__ void find_greatest_of_columns(const T* x, std::int64_t* y, fold_extents of, int tile, int parts) {
  __shared__ candidate<T> all[threads_of_block];
  const int lane = static_cast<int>(threadIdx.x) % tile, part = static_cast<int>(threadIdx.x) / tile;
  const std::int64_t tiles = (of.inner + tile - 1) / tile;
  for (std::int64_t unit = blockIdx.x; unit < of.outer * tiles; unit += gridDim.x) {
    const std::int64_t outer = unit / tiles, column = (unit - outer * tiles) * tile + lane;
    const bool is_there = column < of.inner;
    const T* const from = x + outer * of.n * of.inner + column;
    candidate<T> best{T(0), -1};
    for (std::int64_t i = part; i < (is_there ? of.n : 0); i += parts)
      best = fold_greatest::combine(best, candidate<T>{from[i * of.inner], i});
    all[threadIdx.x] = best;
    __syncthreads();
    if (part == 0 && is_there) {
      for (int other = 1; other < parts; ++other) best = fold_greatest::combine(best, all[other * tile + lane]);
      y[outer * of.inner + column] = best.at;
    }
    __syncthreads();
  }
}

// The threads that fold n elements for each of some results: more than one where neighbours are folded, or where the
// results are too few to fill a GPU.
inline int threads_for_each(std::int64_t results, std::int64_t n, bool are_neighbours) {
  if (n >= 2048 && results < 1 << 16) return static_cast<int>(threads_of_block);
  return are_neighbours || results < 1 << 16 ? std::min(32, power_of_two_from((n + 3) / 4)) : 1;
}

template <class T>
void find_greatest(CUstream_st* stream, const T* x, std::int64_t* y, const fold_extents& of) {
  const std::int64_t results = of.outer * of.inner;
  if (results == 0) return;
  if (of.inner == 1) {
    const int threads = threads_for_each(results, of.n, true);
    return launch(stream, find_greatest_of_each<T>, blocks_for(results * threads), threads_of_block, x, y, results,
                  of.n, threads);
  }
  const int tile = std::min(32, power_of_two_from(of.inner));
  const int parts = std::min(static_cast<int>(threads_of_block) / tile,
                             power_of_two_from(std::min<std::int64_t>((of.n + 3) / 4, 256)));
  const std::int64_t units = of.outer * ((of.inner + tile - 1) / tile);
  launch(stream, find_greatest_of_columns<T>, blocks_for(units * threads_of_block), static_cast<unsigned>(tile * parts),
         x, y, of, tile, parts);
}

// ---- walks

__device__ __forceinline__ std::int64_t fast_quotient(std::int64_t n, std::int64_t by) {
  constexpr std::int64_t most = std::int64_t{1} << 32;
  return n < most && by < most ? static_cast<std::uint32_t>(n) / static_cast<std::uint32_t>(by) : n / by;
}

// The offset of a place of a walk, in row-major order.
__device__ __forceinline__ std::int64_t offset_of(const fold_walk& walk, std::int64_t place) {
  std::int64_t offset = 0;
  for (int d = walk.rank - 1; d > 0; --d) {
    const std::int64_t rest = fast_quotient(place, walk.extent[d]);
    offset += (place - rest * walk.extent[d]) * walk.stride[d];
    place = rest;
  }
  return walk.rank > 0 ? offset + place * walk.stride[0] : offset;
}

// ---- means of integers

__extension__ typedef __int128 wide_integer;

struct wide_sum {
  wide_integer value;
};

__device__ __forceinline__ wide_sum of_lane_across(wide_sum sum, int step) {
  const auto low = of_lane_across(static_cast<unsigned long long>(sum.value), step);
  const auto high = of_lane_across(static_cast<long long>(sum.value >> 64), step);
  return {static_cast<wide_integer>(high) << 64 | low};
}

struct fold_wide {
  static __device__ __forceinline__ wide_sum combine(wide_sum a, wide_sum b) { return {a.value + b.value}; }
};

template <class T>
__global__ void mean_of_each(const T* x, T* y, fold_walk kept, fold_walk folded, std::int64_t results, std::int64_t n,
                             int threads) {
  const int groups = static_cast<int>(blockDim.x) / threads, lane = static_cast<int>(threadIdx.x) % threads;
  for (std::int64_t first = std::int64_t{blockIdx.x} * groups; first < results;
       first += std::int64_t{gridDim.x} * groups) {
    const std::int64_t result = first + static_cast<int>(threadIdx.x) / threads;
    wide_sum sum{0};
    if (result < results) {
      const T* const from = x + offset_of(kept, result);
      for (std::int64_t i = lane; i < n; i += threads) sum.value += from[offset_of(folded, i)];
    }
    sum = fold_group<fold_wide>(sum, threads);
    if (result < results && lane == 0) y[result] = n == 0 ? T(0) : static_cast<T>(sum.value / n);
  }
}

template <class T>
void mean_of_integers(CUstream_st* stream, const T* x, T* y, const fold_walk& kept, const fold_walk& folded) {
  const std::int64_t results = kept.count(), n = folded.count();
  const int threads = threads_for_each(results, n, folded.rank > 0 && folded.stride[folded.rank - 1] == 1);
  if (results > 0)
    launch(stream, mean_of_each<T>, blocks_for(results * threads), threads_of_block, x, y, kept, folded, results, n,
           threads);
}

// ---- spreading

// The n-th part of a number. An integer is not divided by n as an element of its dtype, which may not hold n.
template <class T>
__device__ T part_of(T x, std::int64_t n) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(static_cast<std::int64_t>(x) / n);
  else
    return x / static_cast<T>(n);
}

template <int Width, class T>
__global__ void spread_packs(const T* x, T* y, fold_walk walk, std::int64_t packs, std::int64_t divisor) {
  const bool advances = walk.rank > 0 && walk.stride[walk.rank - 1] != 0;
  const std::int64_t step = std::int64_t{gridDim.x} * blockDim.x;
  for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < packs; i += step) {
    const T* const from = x + offset_of(walk, i * Width);
    pack<T, Width> values;
    if (advances)
      values = load_pack<Width>(from, Width, T(0), true);
    else
      for (T& v : values.at) v = *from;
    if (divisor != 1)
      for (T& v : values.at) v = part_of(v, divisor);
    store_pack(y + i * Width, values, Width, true);
  }
}

// True if a pack never crosses the end of a row, nor lies across a multiple of its size.
template <class T>
bool has_packs(const fold_walk& walk) {
  if (walk.rank == 0 || walk.extent[walk.rank - 1] % widest<T> != 0) return false;
  if (walk.stride[walk.rank - 1] == 0) return true;
  return std::all_of(walk.stride, walk.stride + walk.rank - 1, [](std::int64_t s) { return s % widest<T> == 0; });
}

template <class T>
void spread(CUstream_st* stream, const T* x, T* y, const fold_walk& walk, std::int64_t divisor) {
  const std::int64_t n = walk.count();
  if (n == 0) return;
  if (has_packs<T>(walk) && is_aligned(x) && is_aligned(y))
    launch(stream, spread_packs<widest<T>, T>, blocks_for(n / widest<T>), threads_of_block, x, y, walk, n / widest<T>,
           divisor);
  else
    launch(stream, spread_packs<1, T>, blocks_for(n), threads_of_block, x, y, walk, n, divisor);
}

// ---- gradients of products

// A product of factors x + g0 e0 + g1 e1 + ..., in which each e times itself is 0. It holds one coefficient for each
// set of e, whose members are the bits of the coefficient's index; they lie `stride` elements apart.
template <class T>
struct weighted_product {
  T* of;
  std::int64_t stride;
  unsigned sets;

  __device__ T& operator[](unsigned set) const { return of[set * stride]; }
  __device__ void begin() const {
    for (unsigned set = 0; set < sets; ++set) (*this)[set] = T(set == 0);
  }
  // This becomes `before`, a product of so many factors, times one more factor. Both may be the same. A set with more e
  // than there are factors has no term. Its coefficient is left out of sums, since it could be multiplied by infinity.
  __device__ void be(const weighted_product& before, std::int64_t factors, T x, const product_weights<T>& g,
                     std::int64_t at) const {
    for (unsigned set = sets; set-- > 0;) {
      const int chosen = __popc(set);
      T sum = chosen <= factors ? x * before[set] : T(0);
      if (chosen <= factors + 1)
        for (int i = 0; i < g.count; ++i)
          if (set >> i & 1) sum += g.at[i][at] * before[set ^ 1u << i];
      (*this)[set] = sum;
    }
  }
  // The coefficient of all e in the product of this and `other`.
  __device__ T all_with(std::int64_t factors, const weighted_product& other, std::int64_t others) const {
    T sum = 0;
    const unsigned all = sets - 1;
    for (unsigned set = 0; set <= all; ++set)
      if (__popc(set) <= factors && __popc(all ^ set) <= others) sum += (*this)[set] * other[all ^ set];
    return sum;
  }
};

// Gives the elements [first, end) of a product their gradients: each is `before`, times the others of these elements,
// times `after`.
template <class T>
__device__ void differentiate(T before, T after, const T* x, T* dx, const fold_walk& folded, std::int64_t first,
                              std::int64_t end) {
  for (std::int64_t i = first; i < end; ++i) {
    const std::int64_t at = offset_of(folded, i);
    dx[at] = before;
    before *= x[at];
  }
  for (std::int64_t i = end; i-- > first;) {
    const std::int64_t at = offset_of(folded, i);
    dx[at] *= after;
    after *= x[at];
  }
}

// A block differentiates a long product: each thread has a piece of it, and learns the products of the pieces before
// and after its own.
template <class T>
__global__ void differentiate_long_products(const T* dy, const T* x, T* dx, fold_walk kept, fold_walk folded,
                                            std::int64_t results, std::int64_t n) {
  __shared__ T up_to[threads_of_block], from[threads_of_block];
  constexpr int last = static_cast<int>(threads_of_block) - 1;
  const int thread = static_cast<int>(threadIdx.x);
  const std::int64_t piece = (n + last) / (last + 1), first = thread * piece < n ? thread * piece : n,
                     end = first + piece < n ? first + piece : n;
  for (std::int64_t result = blockIdx.x; result < results; result += gridDim.x) {
    const std::int64_t at = offset_of(kept, result);
    T own = 1;
    for (std::int64_t i = first; i < end; ++i) own *= x[at + offset_of(folded, i)];
    __syncthreads();  // the products of the result before may still be read
    up_to[thread] = from[thread] = own;
    for (int step = 1; step <= last; step *= 2) {
      __syncthreads();
      const T left = thread >= step ? up_to[thread - step] : T(1),
              right = thread + step <= last ? from[thread + step] : T(1);
      __syncthreads();
      up_to[thread] *= left;
      from[thread] *= right;
    }
    __syncthreads();
    differentiate(thread > 0 ? dy[result] * up_to[thread - 1] : dy[result], thread < last ? from[thread + 1] : T(1),
                  x + at, dx + at, folded, first, end);
  }
}

template <class T>
__device__ void differentiate(T dy, const T* x, const product_weights<T>& g, std::int64_t from, T* dx,
                              const fold_walk& folded, std::int64_t n, T* scratch, std::int64_t stride) {
  const unsigned sets = 1u << g.count;
  const auto before = [&](std::int64_t i) { return weighted_product<T>{scratch + i * sets * stride, stride, sets}; };
  before(0).begin();
  for (std::int64_t i = 0; i + 1 < n; ++i) {
    const std::int64_t at = from + offset_of(folded, i);
    before(i + 1).be(before(i), i, x[at], g, at);
  }
  const auto after = before(n);
  after.begin();
  for (std::int64_t i = n; i-- > 0;) {
    const std::int64_t at = from + offset_of(folded, i);
    dx[at] = dy * before(i).all_with(i, after, n - 1 - i);
    after.be(after, n - 1 - i, x[at], g, at);
  }
}

template <class T>
__global__ void differentiate_products(const T* dy, const T* x, product_weights<T> g, T* dx, fold_walk kept,
                                       fold_walk folded, std::int64_t results, std::int64_t n, T* scratch) {
  const std::int64_t step = std::int64_t{gridDim.x} * blockDim.x;
  for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < results; i += step) {
    const std::int64_t from = offset_of(kept, i);
    if (g.count == 0) {
      differentiate(dy[i], T(1), x + from, dx + from, folded, 0, n);
    } else if (g.count >= n) {  // there are too few others
      for (std::int64_t k = 0; k < n; ++k) dx[from + offset_of(folded, k)] = 0;
    } else {
      differentiate(dy[i], x, g, from, dx, folded, n, scratch + i, results);
    }
  }
}

template <class T>
void product_gradient(CUstream_st* stream, const T* dy, const T* x, const product_weights<T>& weights, T* dx,
                      const fold_walk& kept, const fold_walk& folded, T* scratch) {
  constexpr std::int64_t long_product = 512, many = 1 << 16;
  const std::int64_t results = kept.count(), n = folded.count();
  if (results == 0 || n == 0) return;
  if (weights.count == 0 && n >= long_product && results < many)
    launch(stream, differentiate_long_products<T>, static_cast<unsigned>(results), threads_of_block, dy, x, dx, kept,
           folded, results, n);
  else
    launch(stream, differentiate_products<T>, blocks_for(results), threads_of_block, dy, x, weights, dx, kept, folded,
           results, n, scratch);
}

template void find_greatest(CUstream_st*, const float*, std::int64_t*, const fold_extents&);
template void find_greatest(CUstream_st*, const double*, std::int64_t*, const fold_extents&);
template void find_greatest(CUstream_st*, const std::int32_t*, std::int64_t*, const fold_extents&);
template void find_greatest(CUstream_st*, const std::int64_t*, std::int64_t*, const fold_extents&);
template void find_greatest(CUstream_st*, const std::uint8_t*, std::int64_t*, const fold_extents&);

template void mean_of_integers(CUstream_st*, const std::int32_t*, std::int32_t*, const fold_walk&, const fold_walk&);
template void mean_of_integers(CUstream_st*, const std::int64_t*, std::int64_t*, const fold_walk&, const fold_walk&);

template void spread(CUstream_st*, const float*, float*, const fold_walk&, std::int64_t);
template void spread(CUstream_st*, const double*, double*, const fold_walk&, std::int64_t);
template void spread(CUstream_st*, const std::int32_t*, std::int32_t*, const fold_walk&, std::int64_t);
template void spread(CUstream_st*, const std::int64_t*, std::int64_t*, const fold_walk&, std::int64_t);

template void product_gradient(CUstream_st*, const float*, const float*, const product_weights<float>&, float*,
                               const fold_walk&, const fold_walk&, float*);
template void product_gradient(CUstream_st*, const double*, const double*, const product_weights<double>&, double*,
                               const fold_walk&, const fold_walk&, double*);

}}}  // namespace pinion::v0::cuda
