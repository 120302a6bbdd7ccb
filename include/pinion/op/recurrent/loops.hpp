// The inner loops of recurrent cells: what one step makes of the products of a row, and its gradient.
#pragma once

#include <algorithm>
#include <cstdint>

#include <pinion/scalar/maths.hpp>

namespace pinion { inline namespace v0 { namespace loops {

// Vectors of the numbers from place i on of a row of `units`. The last one may be partly filled.
template <class V>
struct units_at {
  using T = typename V::value_type;
  std::int64_t i;
  int count;

  PINION_VECTOR units_at(std::int64_t at, std::int64_t units)
      : i(at), count(static_cast<int>(std::min<std::int64_t>(V::lanes, units - at))) {}
  PINION_VECTOR V load(const T* p) const { return count == V::lanes ? V::load(p + i) : V::load(p + i, count); }
  PINION_VECTOR void store(V x, T* p) const {
    if (count == V::lanes)
      x.store(p + i);
    else
      x.store(p + i, count);
  }
};

template <class V>
PINION_VECTOR V logistic(V x) {
  using T = typename V::value_type;
  return V(T(1)) / (V(T(1)) + exp(V(T(0)) - x));
}

// One row of a step: x and the product h U, by gates; the state, which becomes the new one; what is kept.
template <class T>
struct cell_step {
  const T *x, *product;
  T *h, *c, *kept;
};
// x + h U of a gate. It is no lambda: only a function that says so is compiled for the vectors of its caller.
template <class V, class T>
PINION_VECTOR V gate_sum(const units_at<V>& at, std::int64_t u, const cell_step<T>& row, std::int64_t gate) {
  return at.load(row.x + gate * u) + at.load(row.product + gate * u);
}
// One row of the gradient of a step: what was kept, the states before; the gradients of the state, which become those
// of the state before as far as it is no factor of a product; those of x and of the product.
template <class T>
struct cell_slope {
  const T *kept, *h_before, *c_before;
  T *dh, *dc, *dx, *dproduct;
};

// Gates i, f, g, o: c = f c + i g, h = o tanh(c).
struct lstm_cell {
  static constexpr std::int64_t gates = 4, kept = 5;
  static constexpr bool has_c = true, shares_slopes = true;  // the slopes of the product are those of x

  template <class V, class T>
  static PINION_VECTOR void step(const units_at<V>& at, std::int64_t u, const cell_step<T>& r) {
    const V i = logistic(gate_sum(at, u, r, 0)), f = logistic(gate_sum(at, u, r, 1)), g = tanh(gate_sum(at, u, r, 2)),
            o = logistic(gate_sum(at, u, r, 3));
    const V c = f * at.load(r.c) + i * g;
    at.store(o * tanh(c), r.h), at.store(c, r.c);
    at.store(i, r.kept), at.store(f, r.kept + u), at.store(g, r.kept + 2 * u), at.store(o, r.kept + 3 * u);
    at.store(c, r.kept + 4 * u);
  }
  template <class V, class T>
  static PINION_VECTOR void slope(const units_at<V>& at, std::int64_t u, const cell_slope<T>& r) {
    const V one = T(1), i = at.load(r.kept), f = at.load(r.kept + u), g = at.load(r.kept + 2 * u),
            o = at.load(r.kept + 3 * u), squashed = tanh(at.load(r.kept + 4 * u)), dh = at.load(r.dh);
    const V dc = at.load(r.dc) + dh * o * (one - squashed * squashed);
    at.store(dc * g * i * (one - i), r.dx);
    at.store(dc * at.load(r.c_before) * f * (one - f), r.dx + u);
    at.store(dc * i * (one - g * g), r.dx + 2 * u);
    at.store(dh * squashed * o * (one - o), r.dx + 3 * u);
    at.store(dc * f, r.dc), at.store(V(T(0)), r.dh);
  }
};

// Gates r, z, and n = tanh(x + r h U): h = n + z (h - n).
struct gru_cell {
  static constexpr std::int64_t gates = 3, kept = 4;
  static constexpr bool has_c = false, shares_slopes = false;

  template <class V, class T>
  static PINION_VECTOR void step(const units_at<V>& at, std::int64_t u, const cell_step<T>& s) {
    const V r = logistic(gate_sum(at, u, s, 0)), z = logistic(gate_sum(at, u, s, 1)),
            inner = at.load(s.product + 2 * u);
    const V n = tanh(at.load(s.x + 2 * u) + r * inner);
    at.store(n + z * (at.load(s.h) - n), s.h);
    at.store(r, s.kept), at.store(z, s.kept + u), at.store(n, s.kept + 2 * u), at.store(inner, s.kept + 3 * u);
  }
  template <class V, class T>
  static PINION_VECTOR void slope(const units_at<V>& at, std::int64_t u, const cell_slope<T>& s) {
    const V one = T(1), r = at.load(s.kept), z = at.load(s.kept + u), n = at.load(s.kept + 2 * u),
            inner = at.load(s.kept + 3 * u), dh = at.load(s.dh);
    const V dn = dh * (one - z) * (one - n * n);
    const V dr = dn * inner * r * (one - r), dz = dh * (at.load(s.h_before) - n) * z * (one - z);
    at.store(dr, s.dx), at.store(dz, s.dx + u), at.store(dn, s.dx + 2 * u);
    at.store(dr, s.dproduct), at.store(dz, s.dproduct + u), at.store(dn * r, s.dproduct + 2 * u);
    at.store(dh * z, s.dh);
  }
};

// h = tanh(x + h U).
struct simple_cell {
  static constexpr std::int64_t gates = 1, kept = 1;
  static constexpr bool has_c = false, shares_slopes = true;

  template <class V, class T>
  static PINION_VECTOR void step(const units_at<V>& at, std::int64_t, const cell_step<T>& r) {
    const V h = tanh(at.load(r.x) + at.load(r.product));
    at.store(h, r.h), at.store(h, r.kept);
  }
  template <class V, class T>
  static PINION_VECTOR void slope(const units_at<V>& at, std::int64_t, const cell_slope<T>& r) {
    const V h = at.load(r.kept);
    at.store(at.load(r.dh) * (V(T(1)) - h * h), r.dx), at.store(V(T(0)), r.dh);
  }
};

template <class T, class Cell>
struct cell_row {
  template <class Isa>
  static PINION_VECTOR void run(const cell_step<T>& row, std::int64_t units) {
    using V = scalar::simd<T, Isa>;
    for (std::int64_t i = 0; i < units; i += V::lanes) Cell::step(units_at<V>(i, units), units, row);
  }
};
template <class T, class Cell>
struct cell_row_slope {
  template <class Isa>
  static PINION_VECTOR void run(const cell_slope<T>& row, std::int64_t units) {
    using V = scalar::simd<T, Isa>;
    for (std::int64_t i = 0; i < units; i += V::lanes) Cell::slope(units_at<V>(i, units), units, row);
  }
};

}}}  // namespace pinion::v0::loops
