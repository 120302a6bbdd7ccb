// The order of the elements of sorted lines.
#pragma once

#include <cmath>
#include <type_traits>

namespace pinion { inline namespace v0 { namespace op { namespace detail { namespace order {

template <class T>
bool is_nan(T x) {
  if constexpr (std::is_floating_point_v<T>) return std::isnan(x);
  return false;
}

// Whether a stands before b in a sorted line; NaN is last.
template <class T>
struct stands_before {
  bool descending = false;
  bool operator()(T a, T b) const {
    if (is_nan(b)) return !is_nan(a);
    return descending ? a > b : a < b;
  }
};

}}}}}  // namespace pinion::v0::op::detail::order
