// Words that kernels share: packs of neighbours, and folds over the lanes of a warp and the threads of a block, in
// fixed orders. Nothing here knows the rest of pinion.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace pinion { inline namespace v0 { namespace cuda {

// Neighbours that a thread reads or writes at once.
template <class T, int Count>
struct alignas(sizeof(T) * Count) pack {
  T at[Count];
};

// The elements of a pack of 16 bytes.
template <class T>
inline constexpr int widest = 16 / static_cast<int>(sizeof(T));

// True for an address at which packs of 16 bytes may lie.
inline bool is_aligned(const void* p) {
  return reinterpret_cast<std::uintptr_t>(p) % 16 == 0;
}

// Loads the first n elements of a pack; the others are `rest`. With `whole`, all are there, at an aligned address.
template <int Count, class T>
__device__ __forceinline__ pack<T, Count> load_pack(const T* from, std::int64_t n, T rest, bool whole) {
  if (Count > 1 && whole) return *reinterpret_cast<const pack<T, Count>*>(from);
  pack<T, Count> values;
#pragma unroll
  for (int i = 0; i < Count; ++i) values.at[i] = i < n ? from[i] : rest;
  return values;
}
// Stores the first n elements of a pack. With `whole`, all are stored, at an aligned address. Compilers split a store
// of a struct into those of its members, so one of 16 bytes is named as such.
template <int Count, class T>
__device__ __forceinline__ void store_pack(T* to, const pack<T, Count>& values, std::int64_t n, bool whole) {
  if constexpr (sizeof values == sizeof(uint4))
    if (whole) {
      __stwb(reinterpret_cast<uint4*>(to), *reinterpret_cast<const uint4*>(&values));
      return;
    }
#pragma unroll
  for (int i = 0; i < Count; ++i)
    if (i < n) to[i] = values.at[i];
}

// The value that the lane has whose number differs in the bits of `step`. All lanes of the warp call it.
template <class T>
__device__ __forceinline__ T of_lane_across(T value, int step) {
  return __shfl_xor_sync(0xffffffffu, value, step);
}
__device__ __forceinline__ std::uint8_t of_lane_across(std::uint8_t value, int step) {
  return static_cast<std::uint8_t>(__shfl_xor_sync(0xffffffffu, static_cast<int>(value), step));
}

// Folds the values of `lanes` neighbouring lanes, a power of two up to 32. All lanes of the warp call it, and all get
// the result of their group; the one in the first lane is the same every time.
template <class Fold, class T>
__device__ __forceinline__ T fold_lanes(T value, int lanes) {
  for (int step = lanes / 2; step > 0; step /= 2) value = Fold::combine(value, of_lane_across(value, step));
  return value;
}

// Folds the values of all threads of a block. All threads call it and get the result.
template <class Fold, class T>
__device__ __forceinline__ T fold_block(T value) {
  __shared__ T of_warp[32];
  value = fold_lanes<Fold>(value, 32);
  __syncthreads();  // an earlier result may still be read
  if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = value;
  __syncthreads();
  T result = of_warp[0];
  for (unsigned i = 1; i < blockDim.x / 32; ++i) result = Fold::combine(result, of_warp[i]);
  return result;
}

// Folds the values of a group of threads: of `lanes` neighbouring lanes, or of the whole block if they are more
// than 32.
template <class Fold, class T>
__device__ __forceinline__ T fold_group(T value, int lanes) {
  return lanes > 32 ? fold_block<Fold>(value) : fold_lanes<Fold>(value, lanes);
}

// The smallest power of two that is at least n.
inline int power_of_two_from(std::int64_t n) {
  int power = 1;
  while (power < n) power *= 2;
  return power;
}

}}}  // namespace pinion::v0::cuda
