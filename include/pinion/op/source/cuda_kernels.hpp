// CUDA kernels of sources, as plain functions that take a stream. Nothing here knows the rest of pinion.
#pragma once

#include <cstdint>

struct CUstream_st;

namespace pinion { inline namespace v0 { namespace cuda {

// Fills n elements with one value. T is float, double, std::int32_t, std::int64_t, std::uint8_t or bool.
template <class T>
void fill(CUstream_st* stream, T* to, std::int64_t n, T value);

}}}  // namespace pinion::v0::cuda
