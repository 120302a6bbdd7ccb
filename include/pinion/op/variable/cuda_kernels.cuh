// Bodies of <pinion/op/variable/cuda_kernels.hpp>.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>

#include <pinion/device/cuda/block.cuh>
#include <pinion/device/cuda/launch.cuh>
#include <pinion/device/cuda/row_runs.cuh>
#include <pinion/op/variable/cuda_kernels.hpp>

namespace pinion { inline namespace v0 { namespace cuda {

void copy_bytes(CUstream_st* stream, void* to, const void* from, std::size_t bytes) {
  if (bytes == 0) return;
  if (const cudaError_t failed = cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream))
    throw std::runtime_error(std::string("a copy was not enqueued: ") + cudaGetErrorString(failed));
}

// Some copies, and for each the number of blocks up to its last one.
struct given_copies {
  bytes_copy copy[copies_of_launch];
  unsigned past[copies_of_launch];
};

__device__ inline bool may_copy_words(const bytes_copy& c) {
  return (reinterpret_cast<std::uintptr_t>(c.to) | reinterpret_cast<std::uintptr_t>(c.from)) % sizeof(uint4) == 0;
}

__global__ void copy_given(const __grid_constant__ given_copies all) {
  unsigned k = 0, begin = 0;
  for (; blockIdx.x >= all.past[k]; ++k) begin = all.past[k];
  const bytes_copy c = all.copy[k];
  const std::size_t first = std::size_t{blockIdx.x - begin} * blockDim.x + threadIdx.x,
                    step = std::size_t{all.past[k] - begin} * blockDim.x,
                    words = may_copy_words(c) ? c.bytes / sizeof(uint4) : 0;
  for (std::size_t i = first; i < words; i += step) static_cast<uint4*>(c.to)[i] = static_cast<const uint4*>(c.from)[i];
  for (std::size_t i = words * sizeof(uint4) + first; i < c.bytes; i += step)
    static_cast<unsigned char*>(c.to)[i] = static_cast<const unsigned char*>(c.from)[i];
}

void copy_each(CUstream_st* stream, std::span<const bytes_copy> all) {
  for (; !all.empty(); all = all.subspan(std::min(all.size(), copies_of_launch))) {
    given_copies some{};
    unsigned blocks = 0;
    for (std::size_t k = 0; k < std::min(all.size(), copies_of_launch); ++k) {
      blocks += blocks_for(static_cast<std::int64_t>(all[k].bytes / sizeof(uint4)));
      some.copy[k] = all[k];
      some.past[k] = blocks;
    }
    launch(stream, copy_given, blocks, threads_of_block, some);
  }
}

__device__ inline bool is_any_wrong(const wrong_places& of) {
  for (unsigned long long i = 0; i < of.count; ++i)
    if (of.first[i].position != ~0ull) return true;
  return false;
}

__global__ void copy_bytes_if_wrong(unsigned char* to, const unsigned char* from, std::int64_t bytes, wrong_places of) {
  if (!is_any_wrong(of)) return;
  const std::int64_t step = std::int64_t{gridDim.x} * blockDim.x;
  for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < bytes; i += step) to[i] = from[i];
}

void copy_if_wrong(CUstream_st* stream, void* to, const void* from, std::size_t bytes, const wrong_places& of) {
  const auto n = static_cast<std::int64_t>(bytes);
  if (n > 0)
    launch(stream, copy_bytes_if_wrong, blocks_for(n), threads_of_block, static_cast<unsigned char*>(to),
           static_cast<const unsigned char*>(from), n, of);
}

__global__ void note_if_any_wrong(first_wrong* to, wrong_places of) {
  if (is_any_wrong(of)) to->position = 0;
}

void note_any_wrong(CUstream_st* stream, first_wrong* to, const wrong_places& of) {
  launch(stream, note_if_any_wrong, 1, 1, to, of);
}

// The pack of `Width` elements that a thread handles: some columns of a place.
template <int Width>
struct place_of_rows {
  std::int64_t place, column;

  __device__ __forceinline__ place_of_rows(const named_rows& of, std::int64_t pack) {
    const std::int64_t packs = of.size / Width;
    constexpr std::int64_t most = std::int64_t{1} << 32;
    place = pack < most && packs < most ? static_cast<std::uint32_t>(pack) / static_cast<std::uint32_t>(packs)
                                        : pack / packs;
    column = (pack - place * packs) * Width;
  }
  __device__ __forceinline__ bool is_row(const named_rows& of) const {
    return of.rows[place] < of.extent && (place == 0 || of.rows[place - 1] != of.rows[place]);
  }
  __device__ __forceinline__ std::int64_t in_place(const named_rows& of) const { return place * of.size + column; }
  __device__ __forceinline__ std::int64_t in_row(const named_rows& of) const {
    return of.rows[place] * of.size + column;
  }
};

template <int Width, class T>
__global__ void take_packs(const T* variable, T* compact, named_rows of, std::int64_t packs) {
  const std::int64_t step = std::int64_t{gridDim.x} * blockDim.x;
  for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < packs; i += step) {
    const place_of_rows<Width> at(of, i);
    pack<T, Width> values{};
    if (at.is_row(of)) values = load_pack<Width>(variable + at.in_row(of), Width, T(0), true);
    store_pack(compact + at.in_place(of), values, Width, true);
  }
}

template <int Width, class T>
__global__ void put_packs(const T* compact, T* variable, named_rows of, std::int64_t packs, wrong_places guard) {
  if (is_any_wrong(guard)) return;
  const std::int64_t step = std::int64_t{gridDim.x} * blockDim.x;
  for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < packs; i += step) {
    const place_of_rows<Width> at(of, i);
    if (!at.is_row(of)) continue;
    const auto values = load_pack<Width>(compact + at.in_place(of), Width, T(0), true);
    store_pack(variable + at.in_row(of), values, Width, true);
  }
}

// Launches one of two kernels that differ in their width.
template <class T, class... Parameters, class... Arguments>
void launch_packs(CUstream_st* stream, void (*wide)(const T*, T*, named_rows, std::int64_t, Parameters...),
                  void (*narrow)(const T*, T*, named_rows, std::int64_t, Parameters...), const T* from, T* to,
                  const named_rows& of, Arguments... arguments) {
  const bool is_wide = of.size % widest<T> == 0 && is_aligned(from) && is_aligned(to);
  const std::int64_t packs = of.n * of.size / (is_wide ? widest<T> : 1);
  if (packs > 0)
    launch(stream, is_wide ? wide : narrow, blocks_for(packs), threads_of_block, from, to, of, packs, arguments...);
}

inline row_runs runs_of(const named_rows& of) {
  return {of.rows, of.positions, 1, of.n, of.size, of.extent};
}

std::int64_t sum_gradients_scratch(const named_rows& of) {
  return runs_of(of).scratch();
}

template <class T>
void sum_gradients(CUstream_st* stream, const T* gradients, T* sums, T* scratch, const named_rows& of) {
  sum_runs<run_target::place>(stream, gradients, sums, scratch, runs_of(of));
}

template <class T>
void take_rows(CUstream_st* stream, const T* variable, T* compact, const named_rows& of) {
  launch_packs(stream, take_packs<widest<T>, T>, take_packs<1, T>, variable, compact, of);
}

template <class T>
void put_rows(CUstream_st* stream, const T* compact, T* variable, const named_rows& of, const wrong_places& guard) {
  launch_packs(stream, put_packs<widest<T>, T>, put_packs<1, T>, compact, variable, of, guard);
}

template void sum_gradients(CUstream_st*, const float*, float*, float*, const named_rows&);
template void sum_gradients(CUstream_st*, const double*, double*, double*, const named_rows&);
template void take_rows(CUstream_st*, const float*, float*, const named_rows&);
template void take_rows(CUstream_st*, const double*, double*, const named_rows&);
template void put_rows(CUstream_st*, const float*, float*, const named_rows&, const wrong_places&);
template void put_rows(CUstream_st*, const double*, double*, const named_rows&, const wrong_places&);

}}}  // namespace pinion::v0::cuda
