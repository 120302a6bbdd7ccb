// Vectors, spans and arrays, also nested, as the rows of a tensor.
#pragma once

#include <cstdint>
#include <iterator>
#include <string>
#include <type_traits>

#include <pinion/base/error.hpp>
#include <pinion/tensor/shape.hpp>

namespace pinion { inline namespace v0 { namespace rows {

// The type of a sequence's items.
template <class R>
struct contents {};
template <class R>
requires requires(const R& r) {
  typename R::value_type;
  std::size(r), std::begin(r), std::end(r);
}
struct contents<R> {
  using type = typename R::value_type;
};
template <class E, std::size_t N>
struct contents<E[N]> {
  using type = E;
};

// The type of the innermost items.
template <class R>
struct innermost {
  using type = R;
};
template <class R>
requires(!std::is_same_v<R, std::string> && requires { typename contents<R>::type; }) struct innermost<R>
    : innermost<std::remove_cv_t<typename contents<R>::type>> {
};

// True if R is a sequence of T, or of such sequences.
template <class R, class T>
constexpr bool hold() {
  if constexpr (std::is_convertible_v<const R&, T>) {
    return false;
  } else if constexpr (requires { typename contents<R>::type; }) {
    using E = std::remove_cv_t<typename contents<R>::type>;
    return std::is_same_v<E, T> || (std::is_same_v<T, std::string> && std::is_convertible_v<const E&, T>) ||
           hold<E, T>();
  } else {
    return false;
  }
}

// A vector, span, array or other sized sequence of T, or of such sequences.
template <class R, class T>
concept of = hold<R, T>();

// Adds the dimensions of nested rows to a shape. Each dimension is the length of the first row.
template <class T, class R>
void add_extents(const R& range, shape& extent) {
  extent.push_back(static_cast<std::int64_t>(std::size(range)));
  if constexpr (of<std::remove_cv_t<typename contents<R>::type>, T>)
    if (std::size(range) != 0) add_extents<T>(*std::begin(range), extent);
}

// Copies the items one after another, and returns the place behind the last. Throws invalid_argument if a row has
// another length than the first.
template <class T, class R>
T* copy(const R& range, const shape& extent, int axis, T* to) {
  if (static_cast<std::int64_t>(std::size(range)) != extent[axis])
    throw error(errc::invalid_argument, "ragged rows: one has " + std::to_string(std::size(range)) +
                                            " elements where the first one has " + std::to_string(extent[axis]));
  for (const auto& each : range) {
    if constexpr (of<std::remove_cv_t<typename contents<R>::type>, T>)
      to = rows::copy(each, extent, axis + 1, to);
    else
      *to++ = static_cast<T>(each);
  }
  return to;
}

}}}  // namespace pinion::v0::rows
