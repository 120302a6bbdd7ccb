// Bodies of <pinion/op/source/cuda_kernels.hpp>.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <iterator>

#include <pinion/device/cuda/launch.cuh>
#include <pinion/op/source/cuda_kernels.hpp>

namespace pinion { inline namespace v0 { namespace cuda {

template <class T>
__global__ void fill_elements(T* to, std::int64_t n, T value) {
  const std::int64_t step = std::int64_t{gridDim.x} * blockDim.x;
  for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += step) to[i] = value;
}

// 16 bytes of equal elements.
template <class T>
uint4 repeated_in_word(T value) {
  T elements[16 / sizeof(T)];
  std::fill(std::begin(elements), std::end(elements), value);
  uint4 word;
  std::memcpy(&word, elements, sizeof word);
  return word;
}

template <class T>
void fill(CUstream_st* stream, T* to, std::int64_t n, T value) {
  constexpr std::int64_t of_word = 16 / sizeof(T);
  if (n <= 0) return;
  if (n % of_word == 0 && reinterpret_cast<std::uintptr_t>(to) % 16 == 0)
    launch(stream, fill_elements<uint4>, blocks_for(n / of_word), threads_of_block, reinterpret_cast<uint4*>(to),
           n / of_word, repeated_in_word(value));
  else
    launch(stream, fill_elements<T>, blocks_for(n), threads_of_block, to, n, value);
}

template void fill(CUstream_st*, float*, std::int64_t, float);
template void fill(CUstream_st*, double*, std::int64_t, double);
template void fill(CUstream_st*, std::int32_t*, std::int64_t, std::int32_t);
template void fill(CUstream_st*, std::int64_t*, std::int64_t, std::int64_t);
template void fill(CUstream_st*, std::uint8_t*, std::int64_t, std::uint8_t);
template void fill(CUstream_st*, bool*, std::int64_t, bool);

// start + i * step, rounded twice as on the host: nvcc would make one fused operation of it.
__device__ inline double number_at(double start, double step, std::int64_t i) {
  return __dadd_rn(start, __dmul_rn(static_cast<double>(i), step));
}
__device__ inline std::int64_t number_at(std::int64_t start, std::int64_t step, std::int64_t i) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(start) +
                                   static_cast<std::uint64_t>(i) * static_cast<std::uint64_t>(step));
}

template <class T, class Number>
__global__ void count_elements_up(T* to, std::int64_t n, Number start, Number step) {
  const std::int64_t stride = std::int64_t{gridDim.x} * blockDim.x;
  for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += stride)
    to[i] = static_cast<T>(number_at(start, step, i));
}

template <class T, class Number>
void count_up(CUstream_st* stream, T* to, std::int64_t n, Number start, Number step) {
  if (n > 0) launch(stream, count_elements_up<T, Number>, blocks_for(n), threads_of_block, to, n, start, step);
}

template void count_up(CUstream_st*, float*, std::int64_t, double, double);
template void count_up(CUstream_st*, double*, std::int64_t, double, double);
template void count_up(CUstream_st*, std::int32_t*, std::int64_t, std::int64_t, std::int64_t);
template void count_up(CUstream_st*, std::int64_t*, std::int64_t, std::int64_t, std::int64_t);

template <class T>
struct given_numbers {
  T value[most_given];
};

template <class T>
__global__ void write_numbers(T* to, given_numbers<T> from) {
  to[threadIdx.x] = from.value[threadIdx.x];
}

template <class T>
void write_given(CUstream_st* stream, T* to, int n, const T* values) {
  given_numbers<T> from{};
  std::copy(values, values + n, from.value);
  if (n > 0) launch(stream, write_numbers<T>, 1, static_cast<unsigned>(n), to, from);
}

template void write_given(CUstream_st*, std::int32_t*, int, const std::int32_t*);
template void write_given(CUstream_st*, std::uint64_t*, int, const std::uint64_t*);

}}}  // namespace pinion::v0::cuda
