// CUDA kernels of random numbers, as plain functions that take a stream. Nothing here knows the rest of pinion.
#pragma once

#include <cstdint>

#include <pinion/op/random/bits.hpp>

struct CUstream_st;

namespace pinion { inline namespace v0 { namespace cuda {

// The elements from number `first` on, n of them, of a stream of random bits.
struct random_elements {
  op::detail::random_stream bits;
  std::int64_t first, n;
  const std::uint64_t* execution = nullptr;  // where the GPU holds that of `bits`; null: `bits` has it
};

// Writes numbers in [least, end), of which `greatest` is the greatest: the same ones as on the host. T is float or
// double.
template <class T>
void draw_uniform(CUstream_st* stream, T* to, const random_elements& which, T least, T end, T greatest);

// Writes integers from `least` on, of which there are `count`: the same ones as on the host. T is std::int32_t or
// std::int64_t.
template <class T>
void draw_integers(CUstream_st* stream, T* to, const random_elements& which, std::int64_t least, std::uint64_t count);

// Write normal numbers, which are the host's up to rounding. Truncated ones are drawn again until they are less than
// two standard deviations from the mean. T is float or double.
template <class T>
void draw_normal(CUstream_st* stream, T* to, const random_elements& which, double mean, double stddev);
template <class T>
void draw_truncated_normal(CUstream_st* stream, T* to, const random_elements& which, double mean, double stddev);

}}}  // namespace pinion::v0::cuda
