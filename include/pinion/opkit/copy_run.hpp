// A copy of neighbouring elements that costs little where there are few of them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include <pinion/base/config.hpp>

namespace pinion { inline namespace v0 {

namespace detail {

// Copies between Half and 2 Half bytes, as two halves that may overlap.
template <std::size_t Half>
PINION_INLINE void copy_halves(const char* from, std::size_t bytes, char* to) {
  char low[Half], high[Half];
  std::memcpy(low, from, Half);
  std::memcpy(high, from + bytes - Half, Half);
  std::memcpy(to, low, Half);
  std::memcpy(to + bytes - Half, high, Half);
}

// Copies at most 256 bytes without a call. In a loop over rows of one length, each branch is predicted.
PINION_INLINE void copy_few_bytes(const char* from, std::size_t bytes, char* to) {
  if (bytes >= 16) {
    for (std::size_t at = 0; at + 16 < bytes; at += 16) std::memcpy(to + at, from + at, 16);
    std::memcpy(to + bytes - 16, from + bytes - 16, 16);
  } else if (bytes >= 8) {
    copy_halves<8>(from, bytes, to);
  } else if (bytes >= 4) {
    copy_halves<4>(from, bytes, to);
  } else {
    for (std::size_t at = 0; at < bytes; ++at) to[at] = from[at];
  }
}

}  // namespace detail

// Copies n elements to memory that does not overlap them.
template <class T>
PINION_INLINE void copy_run(const T* from, std::int64_t n, T* to) {
  if constexpr (std::is_trivially_copyable_v<T>) {
    const std::size_t bytes = static_cast<std::size_t>(n) * sizeof(T);
    if (bytes <= 256) {
      detail::copy_few_bytes(reinterpret_cast<const char*>(from), bytes, reinterpret_cast<char*>(to));
    } else {
      std::memcpy(to, from, bytes);
    }
  } else {
    std::copy_n(from, n, to);
  }
}

}}  // namespace pinion::v0
