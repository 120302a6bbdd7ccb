// The inner loops of reductions over simd values: runs fold to one value, columns fold to a row.
//
// These functions are outside namespace op, whose tags (op::select, op::exp) would hide the functions of simd values.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

#include <pinion/scalar/isa.hpp>
#include <pinion/scalar/simd.hpp>

namespace pinion { inline namespace v0 { namespace loops {

// ---- functions that fold two values into one

// The sum; integers wrap around. Each of these structs works on numbers and on vectors.
struct fold_sum {
  template <class T>
  static constexpr T identity = 0;
  template <class V>
  static PINION_VECTOR V combine(V a, V b) {
    if constexpr (std::is_integral_v<V>)
      return static_cast<V>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
    else
      return a + b;
  }
};

struct fold_product {
  template <class T>
  static constexpr T identity = 1;
  template <class V>
  static PINION_VECTOR V combine(V a, V b) {
    if constexpr (std::is_integral_v<V>)
      return static_cast<V>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
    else
      return a * b;
  }
};

template <class V>
PINION_VECTOR V choose(bool first, V a, V b) {
  return first ? a : b;
}
template <class T, class Isa, int N>
PINION_VECTOR scalar::simd<T, Isa, N> choose(scalar::mask<T, Isa, N> first, scalar::simd<T, Isa, N> a,
                                             scalar::simd<T, Isa, N> b) {
  return select(first, a, b);
}

// The greater value; NaN wins.
struct fold_max {
  template <class T>
  static constexpr T identity = std::is_floating_point_v<T> ? -std::numeric_limits<T>::infinity()
                                                            : std::numeric_limits<T>::lowest();
  template <class V>
  static PINION_VECTOR V combine(V a, V b) {
    if constexpr (std::is_arithmetic_v<V>)
      return b != b || b > a ? b : a;
    else
      return max(a, b);
  }
};

struct fold_min {
  template <class T>
  static constexpr T identity = std::is_floating_point_v<T> ? std::numeric_limits<T>::infinity()
                                                            : std::numeric_limits<T>::max();
  template <class V>
  static PINION_VECTOR V combine(V a, V b) {
    if constexpr (std::is_arithmetic_v<V>)
      return b != b || b < a ? b : a;
    else
      return min(a, b);
  }
};

// The conjunction of bools, which are bytes of 0 and 1.
struct fold_all {
  template <class T>
  static constexpr T identity = 1;
  template <class V>
  static PINION_VECTOR V combine(V a, V b) {
    return choose(b < a, b, a);
  }
};

struct fold_any {
  template <class T>
  static constexpr T identity = 0;
  template <class V>
  static PINION_VECTOR V combine(V a, V b) {
    return choose(b > a, b, a);
  }
};

// ---- one pass

// A pass [outer, n, inner] -> [outer, blocks, inner], row-major. Its units of work are (outer, block, strip of
// columns).
struct fold_pass {
  std::int64_t outer, n, inner;
  bool resumes = false;  // columns are folded into the results that are there; requires: inner > 1

  static constexpr std::int64_t strip = 512;
  constexpr std::int64_t block() const { return inner == 1 ? 4096 : 128; }
  constexpr std::int64_t blocks() const { return std::max<std::int64_t>(1, (n + block() - 1) / block()); }
  constexpr std::int64_t strips() const { return (inner + strip - 1) / strip; }
  constexpr std::int64_t units() const { return outer * blocks() * strips(); }
  constexpr std::int64_t unit_size() const {
    return std::max<std::int64_t>(1, std::min(n, block())) * std::min(inner, strip);
  }
  constexpr std::int64_t results() const { return outer * blocks() * inner; }
};

template <class T>
inline constexpr T lane_numbers[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};

// The mask of the first n lanes, for n up to the number of lanes.
template <class V>
PINION_VECTOR typename V::mask_type first_lanes(std::int64_t n) {
  using T = typename V::value_type;
  static_assert(V::lanes <= 16);
  return V::load(lane_numbers<T>) < V::splat(static_cast<T>(n));
}

// Loads the first n lanes of a vector, of which `room` elements may be read. Lanes beyond n have any value.
template <class V>
PINION_VECTOR V load_some(const typename V::value_type* p, std::int64_t n, std::int64_t room) {
  return room >= V::lanes ? V::load(p) : V::load(p, static_cast<int>(n));
}

// Folds all lanes into one: the upper half into the lower half, until one is left.
template <class Fold, class T, class Isa, int N>
PINION_VECTOR T fold_lanes(scalar::simd<T, Isa, N> x) {
  T lane[N];
  x.store(lane);
  if constexpr (N == 2) {
    return Fold::combine(lane[0], lane[1]);
  } else {
    using half = scalar::simd<T, Isa, N / 2>;
    return fold_lanes<Fold>(Fold::combine(half::load(lane), half::load(lane + N / 2)));
  }
}

// The lane, of two vectors of N lanes joined, from which lane i comes of a vector of halves: each part has the lower
// (or upper) half of the part of the first vector, then that of the second.
template <int Part, bool Upper, int N>
constexpr int half_lane(int i) {
  return i / Part * Part + i % (Part / 2) + (Upper ? Part / 2 : 0) + (i % Part < Part / 2 ? 0 : N);
}
template <class Fold, int Part, class T, class Isa, int N, int... Lane>
PINION_VECTOR scalar::simd<T, Isa, N> fold_halves(scalar::simd<T, Isa, N> a, scalar::simd<T, Isa, N> b,
                                                  std::integer_sequence<int, Lane...>) {
  using V = scalar::simd<T, Isa, N>;
  return Fold::combine(V(__builtin_shufflevector(a.raw(), b.raw(), half_lane<Part, false, N>(Lane)...)),
                       V(__builtin_shufflevector(a.raw(), b.raw(), half_lane<Part, true, N>(Lane)...)));
}

// Folds each of `lanes` vectors into one lane: the lower halves with the upper halves, two vectors at a time, until one
// vector is left. Each lane has the bits of fold_lanes.
template <class Fold, class V, int Rows = V::lanes>
PINION_VECTOR V fold_rows(V* rows) {
  if constexpr (Rows == 1) {
    return rows[0];
  } else {
    for (int i = 0; i < Rows / 2; ++i)
      rows[i] = fold_halves<Fold, Rows>(rows[i], rows[i + Rows / 2], std::make_integer_sequence<int, V::lanes>{});
    return fold_rows<Fold, V, Rows / 2>(rows);
  }
}

// Folds n neighbours into one vector, in four vectors at a time.
template <class Fold, class V>
PINION_VECTOR V fold_by_lane(const typename V::value_type* p, std::int64_t n, std::int64_t room) {
  const V nothing = Fold::template identity<typename V::value_type>;
  V a = nothing;
  std::int64_t i = 0;
  if (n >= 4 * V::lanes) {
    V b = nothing, c = nothing, d = nothing;
    for (; i + 4 * V::lanes <= n; i += 4 * V::lanes) {
      a = Fold::combine(a, V::load(p + i));
      b = Fold::combine(b, V::load(p + i + V::lanes));
      c = Fold::combine(c, V::load(p + i + 2 * V::lanes));
      d = Fold::combine(d, V::load(p + i + 3 * V::lanes));
    }
    a = Fold::combine(Fold::combine(a, b), Fold::combine(c, d));
  }
  for (; i + V::lanes <= n; i += V::lanes) a = Fold::combine(a, V::load(p + i));
  if (i < n) {
    a = Fold::combine(a, select(first_lanes<V>(n - i), load_some<V>(p + i, n - i, room - i), nothing));
  }
  return a;
}

// Folds columns of `rows` rows into one row, or into what that row has; `cols` is at most a strip.
template <class Fold, class V>
PINION_VECTOR void fold_columns(const typename V::value_type* x, typename V::value_type* y, std::int64_t rows,
                                std::int64_t stride, std::int64_t cols, std::int64_t room, bool resumes) {
  const V nothing = Fold::template identity<typename V::value_type>;
  std::int64_t j = 0;
  for (; j + 4 * V::lanes <= cols; j += 4 * V::lanes) {
    V a = nothing, b = nothing, c = nothing, d = nothing;
    if (resumes) {
      a = V::load(y + j);
      b = V::load(y + j + V::lanes);
      c = V::load(y + j + 2 * V::lanes);
      d = V::load(y + j + 3 * V::lanes);
    }
    const auto* p = x + j;
    for (std::int64_t r = 0; r < rows; ++r, p += stride) {
      a = Fold::combine(a, V::load(p));
      b = Fold::combine(b, V::load(p + V::lanes));
      c = Fold::combine(c, V::load(p + 2 * V::lanes));
      d = Fold::combine(d, V::load(p + 3 * V::lanes));
    }
    a.store(y + j);
    b.store(y + j + V::lanes);
    c.store(y + j + 2 * V::lanes);
    d.store(y + j + 3 * V::lanes);
  }
  for (; j < cols; j += V::lanes) {
    const std::int64_t n = std::min<std::int64_t>(V::lanes, cols - j);
    V a = nothing;
    if (resumes) a = load_some<V>(y + j, n, n);
    for (std::int64_t r = 0, at = j; r < rows; ++r, at += stride)
      a = Fold::combine(a, load_some<V>(x + at, n, room - at));
    a.store(y + j, static_cast<int>(n));
  }
}

// Folds `count` rows of n neighbours, a row into one value, as many rows at a time as a vector has lanes.
template <class Fold, class V>
PINION_VECTOR void fold_short_rows(const typename V::value_type* x, typename V::value_type* y, std::int64_t n,
                                   std::int64_t count, std::int64_t room) {
  V rows[V::lanes];
  for (V& row : rows) row = Fold::template identity<typename V::value_type>;
  for (std::int64_t r = 0; r < count; r += V::lanes) {
    const std::int64_t some = std::min<std::int64_t>(V::lanes, count - r);
    for (std::int64_t i = 0; i < some; ++i, x += n, room -= n) rows[i] = fold_by_lane<Fold, V>(x, n, room);
    fold_rows<Fold>(static_cast<V*>(rows)).store(y + r, static_cast<int>(some));
  }
}

// Folds the units [first, last) of a pass.
template <class Fold, class T>
struct fold_units {
  template <class Isa>
  static PINION_VECTOR void run(const void* from, void* to, fold_pass p, std::int64_t first, std::int64_t last) {
    using V = scalar::simd<T, Isa>;
    const T* x = static_cast<const T*>(from);
    T* y = static_cast<T*>(to);
    const std::int64_t blocks = p.blocks(), strips = p.strips(), block = p.block();
    const std::int64_t count = p.outer * p.n * p.inner;
    if (p.inner == 1 && p.n <= 16 * V::lanes)
      return fold_short_rows<Fold, V>(x + first * p.n, y + first, p.n, last - first, count - first * p.n);
    for (std::int64_t u = first; u < last; ++u) {
      const std::int64_t target = u / strips, column = u % strips * fold_pass::strip;
      const std::int64_t row = target / blocks * p.n + target % blocks * block;
      const std::int64_t rows = std::min(block, p.n - target % blocks * block);
      if (p.inner == 1) {
        y[target] = fold_lanes<Fold>(fold_by_lane<Fold, V>(x + row, rows, count - row));
      } else {
        const std::int64_t at = row * p.inner + column;
        fold_columns<Fold, V>(x + at, y + target * p.inner + column, rows, p.inner,
                              std::min(fold_pass::strip, p.inner - column), count - at, p.resumes);
      }
    }
  }
};

// The index of the first of the greatest of n neighbours, or of the first NaN, for each of `rows` rows; that of the
// first of the least by fold_min.
template <class T, class Fold = fold_max>
struct argmax_rows {
  template <class Isa>
  static PINION_VECTOR void run(const T* x, std::int64_t* y, std::int64_t n, std::int64_t rows) {
    using V = scalar::simd<T, Isa>;
    for (std::int64_t r = 0, room = rows * n; r < rows; ++r, x += n, room -= n) {
      y[r] = first_of<V>(x, n, room, fold_lanes<Fold>(fold_by_lane<Fold, V>(x, n, room)));
    }
  }

  // The index of the first element with that value, or of the first NaN. It is among the n also where there is none,
  // since elements may have changed since that was found.
  template <class V>
  static PINION_VECTOR std::int64_t first_of(const T* x, std::int64_t n, std::int64_t room, T greatest) {
    std::int64_t i = 0;
    while (i + V::lanes < n && !any(matches<V>(greatest, load_some<V>(x + i, n - i, room - i)))) i += V::lanes;
    while (i + 1 < n && !(x[i] == greatest || x[i] != x[i])) ++i;
    return i;
  }

 private:
  template <class V>
  static PINION_VECTOR auto matches(T greatest, V x) {
    return x == V(greatest) || x != x;
  }
};

// The index of the first of the greatest of n rows, or of the first NaN, for each of `columns` columns; that of the
// first of the least by fold_min. Rows are `stride` elements apart, and there are at most as many columns as in a
// strip.
template <class T, class Fold = fold_max>
struct argmax_columns {
  template <class Isa>
  static PINION_VECTOR void run(const T* x, std::int64_t* y, std::int64_t n, std::int64_t stride,
                                std::int64_t columns) {
    using V = scalar::simd<T, Isa>;
    using row = scalar::detail::signed_of<T>;  // as wide as an element
    using R = scalar::simd<row, Isa, V::lanes>;
    const std::int64_t in_vectors = n <= std::numeric_limits<row>::max() ? columns / V::lanes * V::lanes : 0;
    T greatest[fold_pass::strip];
    row at[fold_pass::strip];
    std::copy_n(x, columns, greatest);
    std::fill_n(at, in_vectors, row{0});
    std::fill_n(y, columns, std::int64_t{0});
    for (std::int64_t r = 1; r < n; ++r) {
      x += stride;
      for (std::int64_t j = 0; j < in_vectors; j += V::lanes) {
        const V now = V::load(x + j), before = V::load(greatest + j);
        const auto better = beats(now, before) || (now != now && before == before);
        select(better, now, before).store(greatest + j);
        select(typename R::mask_type(better.raw()), R(static_cast<row>(r)), R::load(at + j)).store(at + j);
      }
      for (std::int64_t j = in_vectors; j < columns; ++j) {
        const bool better = beats(x[j], greatest[j]) || (x[j] != x[j] && greatest[j] == greatest[j]);
        greatest[j] = better ? x[j] : greatest[j];
        y[j] = better ? r : y[j];
      }
    }
    std::copy_n(at, in_vectors, y);
  }

 private:
  template <class V>
  static PINION_VECTOR auto beats(V now, V before) {
    if constexpr (std::is_same_v<Fold, fold_min>)
      return now < before;
    else
      return now > before;
  }
};

// y += x, for n elements.
template <class T>
struct add_row {
  template <class Isa>
  static PINION_VECTOR void run(const void* from, void* to, std::int64_t n) {
    using V = scalar::simd<T, Isa>;
    const T* x = static_cast<const T*>(from);
    T* y = static_cast<T*>(to);
    std::int64_t i = 0;
    for (; i + V::lanes <= n; i += V::lanes) (V::load(y + i) + V::load(x + i)).store(y + i);
    for (; i < n; ++i) y[i] = fold_sum::combine(y[i], x[i]);
  }
};

}}}  // namespace pinion::v0::loops
