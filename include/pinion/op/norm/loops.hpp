// The inner loops of norms of rows.
//
// A row is read for its mean, for its variance and for what it becomes, while it is in the first-level cache. The last
// elements, which fill no vector, go one by one.
#pragma once

#include <cmath>
#include <cstdint>
#include <type_traits>

#include <pinion/scalar/simd.hpp>

namespace pinion { inline namespace v0 { namespace loops {

// The code of a row is written once, for vectors V and for single numbers.
template <class V, class T>
PINION_VECTOR V load_as(const T* p) {
  if constexpr (std::is_arithmetic_v<V>)
    return *p;
  else
    return V::load(p);
}
template <class V, class T>
PINION_VECTOR V all_as(T x) {
  if constexpr (std::is_arithmetic_v<V>)
    return x;
  else
    return V::splat(x);
}
template <class V, class T>
PINION_VECTOR void store_as(V x, T* p) {
  if constexpr (std::is_arithmetic_v<V>)
    *p = x;
  else
    x.store(p);
}

// The sum of term.at<V>(i) over a row.
template <class V, class T, class Term>
PINION_VECTOR T sum_of_row(std::int64_t n, const Term& term) {
  V a = T(0), b = T(0), c = T(0), d = T(0);
  std::int64_t i = 0;
  for (; i + 4 * V::lanes <= n; i += 4 * V::lanes) {
    a = a + term.template at<V>(i), b = b + term.template at<V>(i + V::lanes);
    c = c + term.template at<V>(i + 2 * V::lanes), d = d + term.template at<V>(i + 3 * V::lanes);
  }
  for (; i + V::lanes <= n; i += V::lanes) a = a + term.template at<V>(i);
  a = (a + b) + (c + d);
  T total = horizontal_sum(a);
  for (; i < n; ++i) total += term.template at<T>(i);
  return total;
}

// Calls to.put<V>(i) for all of a row.
template <class V, class T, class To>
PINION_VECTOR void over_row(std::int64_t n, const To& to) {
  std::int64_t i = 0;
  for (; i + V::lanes <= n; i += V::lanes) to.template put<V>(i);
  for (; i < n; ++i) to.template put<T>(i);
}

template <class T>
struct row_element {
  const T* x;
  template <class V>
  PINION_VECTOR V at(std::int64_t i) const {
    return load_as<V>(x + i);
  }
};
template <class T>
struct row_square {
  const T* x;
  T mean;
  template <class V>
  PINION_VECTOR V at(std::int64_t i) const {
    const V moved = load_as<V>(x + i) - all_as<V>(mean);
    return moved * moved;
  }
};

// y = (x - mean) inverse gamma + beta, or without beta where it is null.
template <class T>
struct row_normalised {
  const T *x, *gamma, *beta;
  T* y;
  T mean, inverse;
  template <class V>
  PINION_VECTOR void put(std::int64_t i) const {
    const V unit = (load_as<V>(x + i) - all_as<V>(mean)) * all_as<V>(inverse) * load_as<V>(gamma + i);
    store_as<V>(beta ? unit + load_as<V>(beta + i) : unit, y + i);
  }
};

// Terms of the gradients of y: the part that reaches the row, and that times the row as it is normalised.
template <class T>
struct row_slope {
  const T *dy, *gamma;
  template <class V>
  PINION_VECTOR V at(std::int64_t i) const {
    return load_as<V>(dy + i) * load_as<V>(gamma + i);
  }
};
template <class T>
struct row_slope_along {
  const T *dy, *gamma, *x;
  T mean, inverse;
  template <class V>
  PINION_VECTOR V at(std::int64_t i) const {
    return load_as<V>(dy + i) * load_as<V>(gamma + i) * ((load_as<V>(x + i) - all_as<V>(mean)) * all_as<V>(inverse));
  }
};

// dx of a row whose slopes have those means, and its part of dgamma and dbeta, which is null where there is no beta.
template <class T>
struct row_gradients {
  const T *dy, *x, *gamma;
  T *dx, *dgamma, *dbeta;
  T mean, inverse, mean_slope, mean_along;
  template <class V>
  PINION_VECTOR void put(std::int64_t i) const {
    const V slope = load_as<V>(dy + i), unit = (load_as<V>(x + i) - all_as<V>(mean)) * all_as<V>(inverse);
    store_as<V>(
        (slope * load_as<V>(gamma + i) - all_as<V>(mean_slope) - unit * all_as<V>(mean_along)) * all_as<V>(inverse),
        dx + i);
    store_as<V>(load_as<V>(dgamma + i) + slope * unit, dgamma + i);
    if (dbeta) store_as<V>(load_as<V>(dbeta + i) + slope, dbeta + i);
  }
};

// Normalises rows. Without a place for means they are 0, and squares are those of x itself.
template <class T>
struct normalised_rows {
  template <class Isa>
  static PINION_VECTOR void run(const T* x, const T* gamma, const T* beta, T* y, T* means, T* inverses, std::int64_t n,
                                std::int64_t rows, T epsilon) {
    using V = scalar::simd<T, Isa>;
    for (std::int64_t r = 0; r < rows; ++r, x += n, y += n) {
      const T mean = means ? sum_of_row<V, T>(n, row_element<T>{x}) / static_cast<T>(n) : T(0);
      const T variance = sum_of_row<V, T>(n, row_square<T>{x, mean}) / static_cast<T>(n);
      const T inverse = T(1) / std::sqrt(variance + epsilon);
      over_row<V, T>(n, row_normalised<T>{x, gamma, beta, y, mean, inverse});
      if (means) means[r] = mean;
      inverses[r] = inverse;
    }
  }
};

// The gradients of rows; dgamma and dbeta are added to. Means are null where rows have none.
template <class T>
struct norm_gradients {
  template <class Isa>
  static PINION_VECTOR void run(const T* dy, const T* x, const T* gamma, const T* means, const T* inverses, T* dx,
                                T* dgamma, T* dbeta, std::int64_t n, std::int64_t rows) {
    using V = scalar::simd<T, Isa>;
    for (std::int64_t r = 0; r < rows; ++r, x += n, dy += n, dx += n) {
      const T mean = means ? means[r] : T(0), inverse = inverses[r];
      const T along = sum_of_row<V, T>(n, row_slope_along<T>{dy, gamma, x, mean, inverse}) / static_cast<T>(n);
      const T slope = means ? sum_of_row<V, T>(n, row_slope<T>{dy, gamma}) / static_cast<T>(n) : T(0);
      over_row<V, T>(n, row_gradients<T>{dy, x, gamma, dx, dgamma, dbeta, mean, inverse, slope, along});
    }
  }
};

}}}  // namespace pinion::v0::loops
