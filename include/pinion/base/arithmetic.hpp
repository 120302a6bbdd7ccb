// Arithmetic of integers beyond their range, which C++ leaves undefined where they are signed.
#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>

namespace pinion { inline namespace v0 {

// The type to compute T in: unsigned for integers, and no narrower than int, to which C++ would widen it.
template <class T>
struct wrapping_type {
  using type = T;
};
template <class T>
requires std::is_integral_v<T>
struct wrapping_type<T> {
  using type = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
};

// Sums of elements wrap where they are integers, as in TensorFlow and NumPy.
template <class T>
constexpr T wrapped_sum(T a, T b) {
  using wide = typename wrapping_type<T>::type;
  return static_cast<T>(static_cast<wide>(a) + static_cast<wide>(b));
}
template <class T>
constexpr T wrapped_product(T a, T b) {
  using wide = typename wrapping_type<T>::type;
  return static_cast<T>(static_cast<wide>(a) * static_cast<wide>(b));
}

// Sums of sizes, which are not negative, stop at the end of the range.
constexpr std::int64_t saturated_sum(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? std::numeric_limits<std::int64_t>::max() : sum;
}

}}  // namespace pinion::v0
