// Sums and products in device code, as base/arithmetic.hpp has them for the host: those of integers wrap around.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <type_traits>

namespace pinion { inline namespace v0 { namespace cuda {

template <class T>
__device__ __forceinline__ T wrapped_sum(T a, T b) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
  else
    return a + b;
}

template <class T>
__device__ __forceinline__ T wrapped_product(T a, T b) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
  else
    return a * b;
}

}}}  // namespace pinion::v0::cuda
