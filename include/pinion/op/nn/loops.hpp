// The inner loops of softmax and the cross entropies.
//
// Rows are handled in blocks that fit into the first-level cache: as many rows as a vector has lanes, or one long row.
// A block is read for the greatest logit of each row, then for the exponentials and their sums. Maxima, sums,
// logarithms and quotients are computed for all rows of a block at once.
//
// A row of fewer elements than a vector is read as one vector, and a store may overwrite the beginning of the row
// behind it. Rows are stored in order, so these elements are written again. Neither leaves the rows that one thread
// works on, and results do not take the place of operands, unless a function says so. Longer rows end with a vector
// that overlaps the one before.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <type_traits>

#include <pinion/op/reduce/loops.hpp>
#include <pinion/scalar/maths.hpp>

namespace pinion { inline namespace v0 { namespace loops {

// The greater number. A NaN may lose: the exponentials of its row are NaN in any case.
struct fold_greater {
  template <class T>
  static constexpr T identity = -std::numeric_limits<T>::infinity();
  template <class V>
  static PINION_VECTOR V combine(V a, V b) {
    if constexpr (std::is_floating_point_v<V>)
      return a < b ? b : a;
    else
      return greater(a, b);
  }
};

template <class V>
PINION_VECTOR void store_some(V x, typename V::value_type* p, std::int64_t n, std::int64_t room) {
  if (room >= V::lanes)
    x.store(p);
  else
    x.store(p, static_cast<int>(n));
}

// ---- one row of n elements, which fill at least one vector

// The lanes from i on.
template <class V>
PINION_VECTOR typename V::mask_type lanes_from(std::int64_t i) {
  return !first_lanes<V>(i);
}

// Lane i has the greatest of the elements that are loaded into lane i.
template <class V>
PINION_VECTOR V greatest_by_lane(const typename V::value_type* x, std::int64_t n) {
  V a = V::load(x + n - V::lanes);
  std::int64_t i = 0;
  if (n >= 4 * V::lanes) {
    V b = a, c = a, d = a;
    for (; i + 4 * V::lanes <= n; i += 4 * V::lanes) {
      a = greater(a, V::load(x + i)), b = greater(b, V::load(x + i + V::lanes));
      c = greater(c, V::load(x + i + 2 * V::lanes)), d = greater(d, V::load(x + i + 3 * V::lanes));
    }
    a = greater(greater(a, b), greater(c, d));
  }
  for (; i + V::lanes <= n; i += V::lanes) a = greater(a, V::load(x + i));
  return a;
}

// Computes e = exp(x - shift), stores it if `Stores` says so, and returns a sum of e for each lane. It prefetches the
// row that begins `ahead` elements after x.
template <bool Stores, class V>
PINION_VECTOR V exp_by_lane(const typename V::value_type* x, typename V::value_type* e, V shift, std::int64_t n,
                            std::int64_t ahead) {
  V sum = typename V::value_type(0);
  std::int64_t i = 0;
  for (; i + V::lanes <= n; i += V::lanes) {
    const V y = exp_of_negative(V::load(x + i) - shift);
    __builtin_prefetch(x + ahead + i);
    if (Stores) y.store(e + i);
    sum = sum + y;
  }
  if (i == n) return sum;
  const V y = exp_of_negative(V::load(x + n - V::lanes) - shift);
  if (Stores) y.store(e + n - V::lanes);
  return sum + select(lanes_from<V>(i - (n - V::lanes)), y, V(typename V::value_type(0)));
}

// y = x factor; y may be x.
template <class V>
PINION_VECTOR void multiply_row(const typename V::value_type* x, V factor, typename V::value_type* y, std::int64_t n) {
  const V end = V::load(x + n - V::lanes) * factor;
  for (std::int64_t i = 0; i + V::lanes <= n; i += V::lanes) (V::load(x + i) * factor).store(y + i);
  end.store(y + n - V::lanes);
}

// ---- blocks of rows

// The greatest logit x of each row of a block, and the sum of e = exp(x - greatest).
template <class V>
struct row_block {
  using T = typename V::value_type;
  static constexpr std::int64_t most = V::lanes;
  std::int64_t n, rows = 0;
  T greatest[most], sum[most];
  V part[most];  // of narrow rows, the exponentials

  explicit PINION_VECTOR row_block(std::int64_t columns) : n(columns) {
    for (std::int64_t i = 0; i < most; ++i) greatest[i] = sum[i] = 1, part[i] = T(0);
  }
  PINION_VECTOR bool narrow() const { return n < V::lanes; }

  // Reads the next rows; `room` elements are left. If `Stores` says so, the exponentials of wide rows are stored in e.
  template <bool Stores>
  PINION_VECTOR void take(const T* x, T* e, std::int64_t room) {
    rows = n * static_cast<std::int64_t>(sizeof(T)) > 1024 ? 1 : std::min(most, room / n);
    if (narrow())
      take_narrow(x, room);
    else
      take_wide<Stores>(x, e);
  }
  PINION_VECTOR V shift_of(std::int64_t row) const { return V::splat(greatest[row]); }
  PINION_VECTOR void logs_of_sums(T* y) const { log(V::load(sum)).store(y); }
  PINION_VECTOR void shares_of_sums(T* y) const { (V(T(1)) / V::load(sum)).store(y); }

  // Stores e / sum in y, which holds e where rows are wide.
  PINION_VECTOR void store_shares(T* y, std::int64_t room) const {
    T factor[most];
    shares_of_sums(factor);
    for (std::int64_t r = 0; r < rows; ++r, y += n, room -= n)
      if (narrow())
        store_some(part[r] * V::splat(factor[r]), y, n, room);
      else
        multiply_row(y, V::splat(factor[r]), y, n);
  }
  // Folds a vector of each row into a number.
  template <class Fold>
  PINION_VECTOR void fold(V* vectors, T* y) const {
    if (rows == 1)
      y[0] = fold_lanes<Fold>(vectors[0]);
    else
      fold_rows<Fold>(vectors).store(y);
  }

 private:
  PINION_VECTOR void take_narrow(const T* x, std::int64_t room) {
    const V lowest = fold_greater::identity<T>;
    const auto here = first_lanes<V>(n);
    V other[most];
    for (V& o : other) o = lowest;
    for (std::int64_t r = 0; r < rows; ++r)
      other[r] = part[r] = select(here, load_some<V>(x + r * n, n, room - r * n), lowest);
    fold<fold_greater>(other, greatest);
    for (std::int64_t r = 0; r < rows; ++r) {
      part[r] = exp_of_negative(select(here, part[r] - shift_of(r), V(T(0))));
      other[r] = select(here, part[r], V(T(0)));
    }
    fold<fold_sum>(other, sum);
  }
  template <bool Stores>
  PINION_VECTOR void take_wide(const T* x, T* e) {
    for (std::int64_t r = 0; r < rows; ++r) part[r] = greatest_by_lane<V>(x + r * n, n);
    fold<fold_greater>(part, greatest);
    for (std::int64_t r = 0; r < rows; ++r)
      part[r] = exp_by_lane<Stores>(x + r * n, e + (Stores ? r * n : 0), shift_of(r), n, rows * n);
    fold<fold_sum>(part, sum);
  }
};

// The structs below each handle `rows` rows of n classes.
template <class T>
struct softmax_rows {
  template <class Isa>
  static PINION_VECTOR void run(const T* x, T* y, std::int64_t n, std::int64_t rows) {
    row_block<scalar::simd<T, Isa>> block(n);
    for (std::int64_t room = rows * n, step; room > 0; room -= step, x += step, y += step) {
      block.template take<true>(x, y, room);
      block.store_shares(y, room);
      step = block.rows * n;
    }
  }
};

// y = x - max - log(sum)
template <class T>
struct log_softmax_rows {
  template <class Isa>
  static PINION_VECTOR void run(const T* x, T* y, std::int64_t n, std::int64_t rows) {
    using V = scalar::simd<T, Isa>;
    row_block<V> block(n);
    for (std::int64_t room = rows * n; room > 0;) {
      block.template take<false>(x, nullptr, room);
      T log_sum[V::lanes];
      block.logs_of_sums(log_sum);
      for (std::int64_t r = 0; r < block.rows; ++r, x += n, y += n, room -= n)
        subtract(x, block.shift_of(r), V::splat(log_sum[r]), y, n, room);
    }
  }

 private:
  template <class V>
  static PINION_VECTOR void subtract(const T* x, V greatest, V log_sum, T* y, std::int64_t n, std::int64_t room) {
    if (n < V::lanes) return store_some(load_some<V>(x, n, room) - greatest - log_sum, y, n, room);
    for (std::int64_t i = 0; i < n; i += V::lanes) {
      const std::int64_t at = std::min(i, n - V::lanes);
      (V::load(x + at) - greatest - log_sum).store(y + at);
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
    row_block<V> block(n);
    for (std::int64_t room = rows * n; room > 0; room -= block.rows * n) {
      if (backprop)
        block.template take<true>(x, backprop, room);
      else
        block.template take<false>(x, nullptr, room);
      T log_sum[V::lanes];
      block.logs_of_sums(log_sum);
      if (backprop) block.store_shares(backprop, room);
      for (std::int64_t r = 0; r < block.rows; ++r, x += n) {
        const std::int64_t k = *label++;
        *loss++ = log_sum[r] - (x[k] - block.greatest[r]);
        if (!backprop) continue;
        backprop[k] -= 1;
        backprop += n;
      }
    }
  }
};

// loss = sum(label (log(sum) - (x - max))), and unless it is null, backprop = softmax - label.
template <class T>
struct cross_entropy_rows {
  template <class Isa>
  static PINION_VECTOR void run(const T* label, const T* x, T* loss, T* backprop, std::int64_t n, std::int64_t rows) {
    using V = scalar::simd<T, Isa>;
    row_block<V> block(n);
    V cost[V::lanes];
    for (V& c : cost) c = T(0);
    for (std::int64_t room = rows * n; room > 0; loss += block.rows) {
      if (backprop)
        block.template take<true>(x, backprop, room);
      else
        block.template take<false>(x, nullptr, room);
      T log_sum[V::lanes], share[V::lanes], total[V::lanes];
      block.logs_of_sums(log_sum);
      block.shares_of_sums(share);
      for (std::int64_t r = 0; r < block.rows; ++r, room -= n, x += n, label += n) {
        const V shift = block.shift_of(r), log = V::splat(log_sum[r]), factor = V::splat(share[r]);
        cost[r] = block.narrow() ? narrow_row(label, x, shift, log, block.part[r] * factor, backprop, n, room)
                                 : wide_row(label, x, shift, log, factor, backprop, n);
        if (backprop) backprop += n;
      }
      block.template fold<fold_sum>(cost, total);
      std::copy_n(total, block.rows, loss);
    }
  }

 private:
  template <class V>
  static PINION_VECTOR V cost_of(V weight, V x, V shift, V log_sum) {
    return select(weight == V(T(0)), V(T(0)), weight * (log_sum - (x - shift)));
  }
  // Both functions return a sum of costs for each lane.
  template <class V>
  static PINION_VECTOR V narrow_row(const T* label, const T* x, V shift, V log_sum, V share, T* backprop,
                                    std::int64_t n, std::int64_t room) {
    const V weight = load_some<V>(label, n, room);
    if (backprop) store_some(share - weight, backprop, n, room);
    return select(first_lanes<V>(n), cost_of(weight, load_some<V>(x, n, room), shift, log_sum), V(T(0)));
  }
  template <class V>
  static PINION_VECTOR V wide_row(const T* label, const T* x, V shift, V log_sum, V factor, T* backprop,
                                  std::int64_t n) {
    V cost = T(0);
    const std::int64_t end = n - V::lanes;
    const V weight = V::load(label + end), last = backprop ? V::load(backprop + end) * factor - weight : weight;
    std::int64_t i = 0;
    for (; i + V::lanes <= n; i += V::lanes) {
      const V w = V::load(label + i);
      cost = cost + cost_of(w, V::load(x + i), shift, log_sum);
      if (backprop) (V::load(backprop + i) * factor - w).store(backprop + i);
    }
    if (backprop) last.store(backprop + end);
    return i == n ? cost
                  : cost + select(lanes_from<V>(i - end), cost_of(weight, V::load(x + end), shift, log_sum), V(T(0)));
  }
};

// y = x scale, by rows; y may be x.
template <class T>
struct scaled_rows {
  template <class Isa>
  static PINION_VECTOR void run(const T* x, const T* scale, T* y, std::int64_t n, std::int64_t rows) {
    using V = scalar::simd<T, Isa>;
    for (std::int64_t r = 0; r < rows; ++r, x += n, y += n)
      if (n < V::lanes)
        for (std::int64_t i = 0; i < n; ++i) y[i] = x[i] * scale[r];
      else
        multiply_row(x, V::splat(scale[r]), y, n);
  }
};

}}}  // namespace pinion::v0::loops
