// CUDA kernels of sources, as plain functions that take a stream. Nothing here knows the rest of pinion.
#pragma once

#include <cstdint>

struct CUstream_st;

namespace pinion { inline namespace v0 { namespace cuda {

// Fills n elements with one value. T is float, double, std::int32_t, std::int64_t, std::uint8_t or bool.
template <class T>
void fill(CUstream_st* stream, T* to, std::int64_t n, T value);

// Writes n numbers, the first one `start` and each other one `step` more. T is float or double, from doubles, or
// std::int32_t or std::int64_t, which wrap around.
template <class T, class Number>
void count_up(CUstream_st* stream, T* to, std::int64_t n, Number start, Number step);

// Writes at most most_given numbers that the host knows. T is std::int32_t or std::uint64_t.
inline constexpr int most_given = 8;
template <class T>
void write_given(CUstream_st* stream, T* to, int n, const T* values);

}}}  // namespace pinion::v0::cuda
