// Bodies of <pinion/device/cuda/fold.hpp>: folds, in one stage or two.
//
// A fold of neighbours gives each row a group of threads; a fold of columns gives a block a tile of columns, with
// threads below each other. Where rows or tiles are too few to fill a GPU, they are cut into segments, and a second
// stage folds what is left of those.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include <pinion/device/cuda/block.cuh>
#include <pinion/device/cuda/fold.hpp>
#include <pinion/device/cuda/launch.cuh>
#include <pinion/scalar/lane.hpp>

namespace pinion { inline namespace v0 { namespace cuda {

// ---- functions that fold two values into one

struct fold_sum {
  template <class T>
  static __device__ __forceinline__ T identity() {
    return T(0);
  }
  template <class T>
  static __device__ __forceinline__ T combine(T a, T b) {
    return (lane<T>(a) + lane<T>(b)).x;
  }
};

struct fold_product {
  template <class T>
  static __device__ __forceinline__ T identity() {
    return T(1);
  }
  template <class T>
  static __device__ __forceinline__ T combine(T a, T b) {
    return (lane<T>(a) * lane<T>(b)).x;
  }
};

struct fold_max {
  template <class T>
  static __device__ __forceinline__ T identity() {
    using limits = std::numeric_limits<T>;
    return limits::has_infinity ? -limits::infinity() : limits::lowest();
  }
  template <class T>
  static __device__ __forceinline__ T combine(T a, T b) {
    return max(lane<T>(a), lane<T>(b)).x;
  }
};

struct fold_min {
  template <class T>
  static __device__ __forceinline__ T identity() {
    using limits = std::numeric_limits<T>;
    return limits::has_infinity ? limits::infinity() : limits::max();
  }
  template <class T>
  static __device__ __forceinline__ T combine(T a, T b) {
    return min(lane<T>(a), lane<T>(b)).x;
  }
};

// ---- one stage

// The way in which a stage is cut: n rows or neighbours into segments, each of which leaves one result.
struct fold_stage {
  std::int64_t outer, n, inner;
  std::int64_t segment, segments = 1;
  int width = 1;    // elements that a thread takes at once
  int threads = 1;  // of a group that folds neighbours, or along a row of a tile of columns
  bool aligned = false;
  std::int64_t divisor = 1;

  std::int64_t units() const {
    const std::int64_t tile = std::int64_t{threads} * width;
    return outer * segments * (inner == 1 ? 1 : (inner + tile - 1) / tile);
  }
};

template <class Fold, int Width, class T>
__device__ __forceinline__ void fold_into(pack<T, Width>& sums, const pack<T, Width>& more) {
#pragma unroll
  for (int i = 0; i < Width; ++i) sums.at[i] = Fold::combine(sums.at[i], more.at[i]);
}

// Folds the packs `first`, first + step, ... of n, which lie `stride` elements apart, several at a time so that many
// loads are under way.
template <class Fold, int Width, class T>
__device__ __forceinline__ pack<T, Width> fold_packs(const T* x, std::int64_t first, std::int64_t step, std::int64_t n,
                                                     std::int64_t stride, bool aligned) {
  constexpr int at_once = 4;
  pack<T, Width> sums;
#pragma unroll
  for (T& sum : sums.at) sum = Fold::template identity<T>();
  const auto load = [&](std::int64_t i) { return load_pack<Width>(x + i * stride, Width, T(0), aligned); };
  std::int64_t i = first;
  for (; i + (at_once - 1) * step < n; i += at_once * step) {
    pack<T, Width> some[at_once];
#pragma unroll
    for (int k = 0; k < at_once; ++k) some[k] = load(i + k * step);
#pragma unroll
    for (int k = 0; k < at_once; ++k) fold_into<Fold>(sums, some[k]);
  }
  for (; i < n; i += step) fold_into<Fold>(sums, load(i));
  return sums;
}

template <class T>
__device__ __forceinline__ T divided(T value, std::int64_t by) {
  if constexpr (std::is_floating_point_v<T>)
    if (by != 1) return value / static_cast<T>(by);
  return value;
}

template <class Fold, int Width, class T>
__global__ void fold_rows(const T* x, T* y, fold_stage of) {
  const std::int64_t units = of.outer * of.segments;
  const int groups = static_cast<int>(blockDim.x) / of.threads, lane = static_cast<int>(threadIdx.x) % of.threads;
  for (std::int64_t first_unit = std::int64_t{blockIdx.x} * groups; first_unit < units;
       first_unit += std::int64_t{gridDim.x} * groups) {
    const std::int64_t unit = first_unit + static_cast<int>(threadIdx.x) / of.threads;
    T value = Fold::template identity<T>();
    if (unit < units) {
      const std::int64_t row = of.segments == 1 ? unit : unit / of.segments;
      const std::int64_t first = (unit - row * of.segments) * of.segment;
      const std::int64_t n = of.n - first < of.segment ? of.n - first : of.segment;
      const auto sums = fold_packs<Fold, Width>(x + row * of.n + first, lane, of.threads, n / Width, Width, of.aligned);
#pragma unroll
      for (const T& sum : sums.at) value = Fold::combine(value, sum);
    }
    value = fold_group<Fold>(value, of.threads);
    if (unit < units && lane == 0) y[unit] = divided(value, of.divisor);
  }
}

template <class Fold, int Width, class T>
__global__ void fold_columns(const T* x, T* y, fold_stage of) {
  __shared__ pack<T, Width> room[threads_of_block];
  const int across = of.threads, below = static_cast<int>(threads_of_block) / across;
  const int lane = static_cast<int>(threadIdx.x) % across, row = static_cast<int>(threadIdx.x) / across;
  const std::int64_t tile = std::int64_t{across} * Width, tiles = (of.inner + tile - 1) / tile;
  const std::int64_t units = of.outer * of.segments * tiles;
  for (std::int64_t unit = blockIdx.x; unit < units; unit += gridDim.x) {
    const std::int64_t target = unit / tiles, column = unit % tiles * tile + lane * Width;
    const std::int64_t outer = target / of.segments, first = target % of.segments * of.segment;
    const std::int64_t n = of.n - first < of.segment ? of.n - first : of.segment;
    const bool is_there = column < of.inner;
    pack<T, Width> sums = fold_packs<Fold, Width>(x + (outer * of.n + first) * of.inner + column, row, below,
                                                  is_there ? n : 0, of.inner, of.aligned);
    __syncthreads();  // the tile before may still be read
    room[threadIdx.x] = sums;
    for (int step = below / 2; step > 0; step /= 2) {
      __syncthreads();
      if (row < step) {
        fold_into<Fold>(sums, room[static_cast<int>(threadIdx.x) + step * across]);
        room[threadIdx.x] = sums;
      }
    }
    if (row > 0 || !is_there) continue;
#pragma unroll
    for (T& sum : sums.at) sum = divided(sum, of.divisor);
    store_pack(y + target * of.inner + column, sums, Width, of.aligned);
  }
}

// ---- stages

// The units of work that fill a large GPU.
inline constexpr std::int64_t enough_units = 2048;

// Cuts n into segments of a multiple of `step`, so that there are enough units, and none is shorter than `least`.
inline void cut(fold_stage& stage, std::int64_t units, std::int64_t least, std::int64_t step) {
  stage.segment = std::max<std::int64_t>(stage.n, 1);
  const std::int64_t wanted = std::min(enough_units / std::max<std::int64_t>(units, 1), stage.n / least);
  if (wanted < 2) return;
  stage.segment = ((stage.n + wanted - 1) / wanted + step - 1) / step * step;
  stage.segments = (stage.n + stage.segment - 1) / stage.segment;
}

// The threads for a row of that many packs: each folds a few, and a warp or less does it unless the row is long.
inline int threads_for_row(std::int64_t packs) {
  return packs >= 1024 ? static_cast<int>(threads_of_block) : std::min(32, power_of_two_from((packs + 3) / 4));
}

template <class T>
fold_stage rows_stage(const fold_extents& of) {
  fold_stage stage{of.outer, of.n, 1, 0};
  stage.width = of.n % widest<T> == 0 ? widest<T> : 1;
  stage.threads = threads_for_row(of.n / stage.width);
  const std::int64_t packs = std::int64_t{threads_of_block} * 4 * widest<T>;
  if (stage.threads > 32)
    cut(stage, of.outer, 4 * packs, packs);
  else
    stage.segment = std::max<std::int64_t>(of.n, 1);
  return stage;
}

template <class T>
fold_stage columns_stage(const fold_extents& of) {
  fold_stage stage{of.outer, of.n, of.inner, 0};
  stage.width = of.inner % widest<T> == 0 ? widest<T> : 1;
  const int most = power_of_two_from(std::min<std::int64_t>(of.inner / stage.width, threads_of_block));
  stage.threads = std::min(most, 32);
  const auto below = [&] { return static_cast<int>(threads_of_block) / stage.threads; };
  while (stage.threads < most && of.n < 4 * below()) stage.threads *= 2;
  cut(stage, stage.units(), 16 * below(), 4 * below());
  return stage;
}

template <class T>
fold_stage first_stage(const fold_extents& of) {
  return of.inner == 1 ? rows_stage<T>(of) : columns_stage<T>(of);
}

template <class Fold, class T>
void run_stage(CUstream_st* stream, const T* x, T* y, fold_stage stage) {
  stage.aligned = is_aligned(x) && is_aligned(y);
  const bool wide = stage.width > 1;
  if (stage.inner == 1)
    launch(stream, wide ? fold_rows<Fold, widest<T>, T> : fold_rows<Fold, 1, T>,
           blocks_for(stage.units() * stage.threads), threads_of_block, x, y, stage);
  else
    launch(stream, wide ? fold_columns<Fold, widest<T>, T> : fold_columns<Fold, 1, T>,
           blocks_for(stage.units() * threads_of_block), threads_of_block, x, y, stage);
}

template <class Fold, class T>
void run_stages(CUstream_st* stream, const T* x, T* y, const fold_extents& of, std::int64_t divisor, T* scratch) {
  fold_stage stage = first_stage<T>(of);
  if (stage.segments > 1) {
    run_stage<Fold>(stream, x, scratch, stage);
    x = scratch;
    stage = first_stage<T>({of.outer, stage.segments, of.inner});
    stage.segment = stage.n;
    stage.segments = 1;
  }
  stage.divisor = divisor;
  run_stage<Fold>(stream, x, y, stage);
}

template <class T>
std::int64_t fold_scratch(const fold_extents& of) {
  const fold_stage stage = first_stage<T>(of);
  return stage.segments > 1 ? of.outer * stage.segments * of.inner : 0;
}

template <class T>
void fold(CUstream_st* stream, fold_by how, const T* x, T* y, const fold_extents& of, std::int64_t divisor,
          T* scratch) {
  if (of.outer * of.inner == 0) return;
  const auto run = [&](auto by) { run_stages<decltype(by)>(stream, x, y, of, divisor, scratch); };
  if (how == fold_by::greatest) return run(fold_max{});
  if (how == fold_by::least) return run(fold_min{});
  if constexpr (sizeof(T) > 1) how == fold_by::sum ? run(fold_sum{}) : run(fold_product{});
}

#define PINION_FOLDS(T)                                                                           \
  template void fold(CUstream_st*, fold_by, const T*, T*, const fold_extents&, std::int64_t, T*); \
  template std::int64_t fold_scratch<T>(const fold_extents&);
PINION_FOLDS(float)
PINION_FOLDS(double)
PINION_FOLDS(std::int32_t)
PINION_FOLDS(std::int64_t)
PINION_FOLDS(std::uint8_t)
#undef PINION_FOLDS

}}}  // namespace pinion::v0::cuda
