// Integer arithmetic beyond the range of the type. C++ leaves an overflow of signed integers undefined; these functions
// define it.
#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>

namespace pinion { inline namespace v0 {

// The type in which T is computed: an unsigned one for integers, and not narrower than int, to which C++ would widen
// it.
template <class T>
struct wrapping_type {
  using type = T;
};
template <class T>
requires std::is_integral_v<T>
struct wrapping_type<T> {
  using type = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
};

// The sum of two elements. Integers wrap, as in TensorFlow and NumPy.
template <class T>
constexpr T wrapped_sum(T a, T b) {
  using wide = typename wrapping_type<T>::type;
  return static_cast<T>(static_cast<wide>(a) + static_cast<wide>(b));
}
// The product of two elements. Integers wrap, as in TensorFlow and NumPy.
template <class T>
constexpr T wrapped_product(T a, T b) {
  using wide = typename wrapping_type<T>::type;
  return static_cast<T>(static_cast<wide>(a) * static_cast<wide>(b));
}

// The sum of two sizes, which stops at the largest number. Requires: neither is negative.
constexpr std::int64_t saturated_sum(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? std::numeric_limits<std::int64_t>::max() : sum;
}

}}  // namespace pinion::v0
