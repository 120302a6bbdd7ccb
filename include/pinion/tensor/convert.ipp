// Bodies of <pinion/tensor/convert.hpp>.
//
// An element goes through a wide type: a block of elements is loaded into it, and stored from it. So there is a loop
// for each dtype and wide type, and none for each pair of dtypes.
#pragma once

#include <algorithm>
#include <limits>
#include <string>
#include <type_traits>

#include <pinion/base/error.hpp>
#include <pinion/tensor/convert.hpp>

namespace pinion { inline namespace v0 {

namespace detail {

// The integer that a number is once its fraction is cut off; the nearest one for a number beyond them, and 0 for NaN.
template <class T>
T cut_off(double x) {
  constexpr T least = std::numeric_limits<T>::min(), most = std::numeric_limits<T>::max();
  constexpr double end = 2 * static_cast<double>(T(1) << (std::numeric_limits<T>::digits - 1));  // most + 1
  if (x != x) return 0;
  return x <= static_cast<double>(least) ? least : x >= end ? most : static_cast<T>(x);
}

template <class T, class From>
T converted_element(From x) {
  if constexpr (std::is_same_v<T, bool>)
    return static_cast<double>(x) != 0;
  else if constexpr (std::is_integral_v<T> && std::is_floating_point_v<From>)
    return cut_off<T>(x);
  else
    return static_cast<T>(x);
}

// Converts n elements of a block. Loops of a constant length are compiled to vectors at each level of optimization.
inline constexpr std::int64_t conversion_block = 256;
template <class From, class To>
void convert_block(const void* from, std::int64_t n, void* to) {
  const From* __restrict x = static_cast<const From*>(from);
  To* __restrict y = static_cast<To*>(to);
  if (n == conversion_block)
    for (std::int64_t i = 0; i < conversion_block; ++i) y[i] = converted_element<To>(x[i]);
  else
    for (std::int64_t i = 0; i < n; ++i) y[i] = converted_element<To>(x[i]);
}

}  // namespace detail

template <class Wide, dtype_set From, dtype_set To>
void element_conversion::go_through(dtype from, dtype to) {
  load_ = visit_plain<From>(from, []<class T>() -> step { return &detail::convert_block<T, Wide>; });
  store_ = visit_plain<To>(to, []<class T>() -> step { return &detail::convert_block<Wide, T>; });
}

// The wide type holds each element of the first dtype exactly, so that an element is rounded once.
PINION_DECL element_conversion::element_conversion(dtype from, dtype to)
    : from_size_(size_of(from)), to_size_(size_of(to)) {
  constexpr dtype_set small{dtype::float32, dtype::half, dtype::bfloat16}, real = small | dtype_set{dtype::float64};
  constexpr dtype_set whole{dtype::int32, dtype::int64, dtype::uint8,  dtype::boolean,
                            dtype::int8,  dtype::int16, dtype::uint16, dtype::uint32};
  constexpr dtype_set widest{dtype::uint64};
  if (!dtypes::moved.has(from) || !dtypes::moved.has(to))
    throw error(errc::invalid_argument, "elements of " + std::string(to_string(from)) + " are not converted to " +
                                            std::string(to_string(to)) + "; numbers and bools are");
  if (small.has(from) && small.has(to))
    go_through<float, small, small>(from, to);
  else if (real.has(from))
    go_through<double, real, dtypes::moved>(from, to);
  else if (from == dtype::uint64)
    go_through<std::uint64_t, widest, dtypes::moved>(from, to);
  else
    go_through<std::int64_t, whole, dtypes::moved>(from, to);
}

PINION_DECL void element_conversion::run(const std::byte* from, std::int64_t first, std::int64_t last,
                                         std::byte* to) const {
  alignas(64) std::byte wide[detail::conversion_block * sizeof(std::uint64_t)];
  for (std::int64_t n; first < last; first += n) {
    n = std::min(last - first, detail::conversion_block);
    load_(from + static_cast<std::size_t>(first) * from_size_, n, wide);
    store_(wide, n, to + static_cast<std::size_t>(first) * to_size_);
  }
}

PINION_DECL any_tensor converted(const any_tensor& x, dtype to) {
  if (x.empty() || !x.on_host()) throw error(errc::invalid_argument, "no tensor on the host is to be converted");
  if (x.dtype() == to && to != dtype::string) return x;
  const element_conversion way(x.dtype(), to);
  any_tensor y(to, x.shape());
  way.run(x.byte_data(), 0, x.count(), y.byte_data());
  return y;
}

}}  // namespace pinion::v0
