// Divisions by numbers that are known where a kernel is launched. Nothing here knows the rest of pinion.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace pinion { inline namespace v0 { namespace cuda {

// A divisor of numbers of type Index: std::uint32_t, of which all stay below 2^31, or std::uint64_t. 0 counts as 1:
// where an extent is 0, there is nothing to divide.
template <class Index>
struct divisor {
  Index by = 1;

  divisor() = default;
  explicit divisor(std::int64_t d) : by(static_cast<Index>(d > 0 ? d : 1)) {}
  __device__ Index quotient(Index n) const { return n / by; }
};

// A product and a shift (Granlund and Montgomery, "Division by invariant integers using multiplication", PLDI 1994).
template <>
struct divisor<std::uint32_t> {
  std::uint32_t by = 1, factor = 1, shift = 0;

  divisor() = default;
  explicit divisor(std::int64_t d) : by(static_cast<std::uint32_t>(d > 0 ? d : 1)) {
    while ((std::uint64_t{1} << shift) < by) ++shift;
    factor = static_cast<std::uint32_t>(((((std::uint64_t{1} << shift) - by) << 32) / by) + 1);
  }
  __device__ std::uint32_t quotient(std::uint32_t n) const {
    return (static_cast<std::uint32_t>((std::uint64_t{n} * factor) >> 32) + n) >> shift;
  }
};

// Tells whether numbers up to n are divided as 32-bit numbers.
inline bool is_short(std::int64_t n) {
  return n < std::int64_t{1} << 31;
}

}}}  // namespace pinion::v0::cuda
