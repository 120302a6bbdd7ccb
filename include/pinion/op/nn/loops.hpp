// The inner loops of softmax and the cross entropies: each row is handled while it is in the cache, vectors along it.
//
// A row need not fill whole vectors. A load may read the rows behind it, and a store may overwrite their beginning;
// rows are handled in order, so these elements are written again. Neither leaves the block of rows that one thread
// works on, and results never take the place of operands.
#pragma once

#include <cstdint>

#include <pinion/op/reduce/loops.hpp>
#include <pinion/scalar/maths.hpp>

namespace pinion { inline namespace v0 { namespace loops {

template <class V>
PINION_VECTOR void store_some(V x, typename V::value_type* p, std::int64_t n, std::int64_t room) {
  if (room >= V::lanes)
    x.store(p);
  else
    x.store(p, static_cast<int>(n));
}

// The first n lanes of x, with 0 in the others.
template <class V>
PINION_VECTOR V only_first(V x, std::int64_t n) {
  using T = typename V::value_type;
  return n >= V::lanes ? x : select(first_lanes<V>(n), x, V(T(0)));
}

// Stores e = exp(x - shift), unless e is null, and returns the sum of e. In all functions of this file that handle a
// row, the row has n elements, and `room` elements may be touched.
template <class V>
PINION_VECTOR auto exp_row(const typename V::value_type* x, typename V::value_type* e, typename V::value_type shift,
                           std::int64_t n, std::int64_t room) {
  V sum = typename V::value_type(0);
  for (std::int64_t i = 0; i < n; i += V::lanes) {
    const V y = exp(load_some<V>(x + i, n - i, room - i) - V(shift));
    if (e) store_some(y, e + i, n - i, room - i);
    sum = sum + only_first(y, n - i);
  }
  return fold_lanes<fold_sum>(sum);
}

template <class V>
PINION_VECTOR void multiply_row(const typename V::value_type* x, typename V::value_type factor,
                                typename V::value_type* y, std::int64_t n, std::int64_t room) {
  for (std::int64_t i = 0; i < n; i += V::lanes)
    store_some(load_some<V>(x + i, n - i, room - i) * V(factor), y + i, n - i, room - i);
}

template <class V>
PINION_VECTOR auto log_of(typename V::value_type x) {
  return log(V(x))[0];
}

// The structs below each handle `rows` rows of n classes.
template <class T>
struct softmax_rows {
  template <class Isa>
  static PINION_VECTOR void run(const T* x, T* y, std::int64_t n, std::int64_t rows) {
    using V = scalar::simd<T, Isa>;
    for (std::int64_t room = rows * n; room > 0; room -= n, x += n, y += n) {
      const T greatest = fold_run<fold_max, V>(x, n, room);
      const T sum = exp_row<V>(x, y, greatest, n, room);
      multiply_row<V>(y, 1 / sum, y, n, room);
    }
  }
};

template <class T>
struct log_softmax_rows {
  template <class Isa>
  static PINION_VECTOR void run(const T* x, T* y, std::int64_t n, std::int64_t rows) {
    using V = scalar::simd<T, Isa>;
    for (std::int64_t room = rows * n; room > 0; room -= n, x += n, y += n) {
      const T greatest = fold_run<fold_max, V>(x, n, room);
      const T log_sum = log_of<V>(exp_row<V>(x, nullptr, greatest, n, room));
      for (std::int64_t i = 0; i < n; i += V::lanes)
        store_some(load_some<V>(x + i, n - i, room - i) - V(greatest) - V(log_sum), y + i, n - i, room - i);
    }
  }
};

// loss = log(sum) - (x[label] - max), and unless it is null, backprop = softmax - [label].
template <class T>
struct sparse_cross_entropy_rows {
  template <class Isa>
  static PINION_VECTOR void run(const std::int64_t* label, const T* x, T* loss, T* backprop, std::int64_t n,
                                std::int64_t rows) {
    using V = scalar::simd<T, Isa>;
    for (std::int64_t r = 0, room = rows * n; r < rows; ++r, room -= n, x += n) {
      const T greatest = fold_run<fold_max, V>(x, n, room);
      const T sum = exp_row<V>(x, backprop, greatest, n, room);
      loss[r] = log_of<V>(sum) - (x[label[r]] - greatest);
      if (!backprop) continue;
      multiply_row<V>(backprop, 1 / sum, backprop, n, room);
      backprop[label[r]] -= 1;
      backprop += n;
    }
  }
};

// loss = sum(label (log(sum) - (x - max))), and unless it is null, backprop = softmax - label.
template <class T>
struct cross_entropy_rows {
  template <class Isa>
  static PINION_VECTOR void run(const T* label, const T* x, T* loss, T* backprop, std::int64_t n, std::int64_t rows) {
    using V = scalar::simd<T, Isa>;
    for (std::int64_t r = 0, room = rows * n; r < rows; ++r, room -= n, x += n, label += n) {
      const T greatest = fold_run<fold_max, V>(x, n, room);
      const T sum = exp_row<V>(x, backprop, greatest, n, room), log_sum = log_of<V>(sum);
      V total = T(0);
      for (std::int64_t i = 0; i < n; i += V::lanes) {
        const V weight = load_some<V>(label + i, n - i, room - i);
        const V surprise = V(log_sum) - (load_some<V>(x + i, n - i, room - i) - V(greatest));
        total = total + only_first(select(weight == V(T(0)), V(T(0)), weight * surprise), n - i);
        if (!backprop) continue;
        const V share = load_some<V>(backprop + i, n - i, room - i) * V(1 / sum);
        store_some(share - weight, backprop + i, n - i, room - i);
      }
      loss[r] = fold_lanes<fold_sum>(total);
      if (backprop) backprop += n;
    }
  }
};

template <class T>
struct scaled_rows {
  template <class Isa>
  static PINION_VECTOR void run(const T* x, const T* scale, T* y, std::int64_t n, std::int64_t rows) {
    for (std::int64_t r = 0, room = rows * n; r < rows; ++r, room -= n)
      multiply_row<scalar::simd<T, Isa>>(x + r * n, scale[r], y + r * n, n, room);
  }
};

}}}  // namespace pinion::v0::loops
