// A vector of one instruction set as a value: the type that a scalar functor is computed with.
//
// simd<T, Isa> has as many lanes as fit into a vector, where a lane takes four bytes at least: on avx512 sixteen
// floats, int32s or uint8s, and eight doubles or int64s. It is a thin wrapper of the compiler's vector type, so it is
// written once for all instruction sets and compilers; isa.hpp tells how it is compiled for one of them.
//
//   * Lanes are independent: a result does not depend on the lane of its input.
//   * load(p, n) and store(p, n) touch at most n elements, so one loop serves whole vectors and the tail, and gives the
//     same bits in both:  for (int i = 0; i < n; i += V::lanes) f(V::load(x + i, n - i)).store(y + i, n - i);
//   * Integer arithmetic wraps. x / 0 is 0, and the smallest integer / -1 is itself: no lane can trap.
//   * fma(a, b, c) is one instruction where the instruction set has it and the compiler optimises (g++ -O2, clang -O1
//     and up), otherwise a * b + c; rely on its speed, never on the rounding it saves.
//   * min and max are NaN if either operand is, as in TensorFlow; of equal operands (0 and -0) they are the first.
//
// The operators and functions here and in maths.hpp are found by argument-dependent lookup. A functor template that
// uses no others also runs over the symbolic values from which gradients and programs are made.
#pragma once

#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

#include <pinion/base/config.hpp>
#include <pinion/scalar/isa.hpp>
#include <pinion/scalar/native.hpp>

PINION_EXACT_BEGIN
namespace pinion { inline namespace v0 { namespace scalar {

// The number of lanes that fill one vector.
template <class T, class Isa>
inline constexpr int natural_lanes = Isa::bytes / (sizeof(T) < 4 ? 4 : static_cast<int>(sizeof(T)));

namespace detail {

// The type of the members. With an alignment of more than 16 bytes, g++ would note at every function that takes such a
// class by value that its calling convention has changed since 4.4, and a header cannot switch that note off.
template <class T, int N>
struct stored_vector_of {
  typedef T type __attribute__((vector_size(sizeof(T) * N), aligned(sizeof(T) * N < 16 ? sizeof(T) * N : 16)));
};
template <class T, int N>
using stored_vector = typename stored_vector_of<T, N>::type;

template <int Bytes>
using signed_of_size =
    std::conditional_t<Bytes == 8, std::int64_t, std::conditional_t<Bytes == 4, std::int32_t, std::int8_t>>;
template <class T>
using signed_of = signed_of_size<sizeof(T)>;

// The type in which T is added and multiplied: an unsigned one for integers, whose overflow is defined.
template <class T>
using wrapping = std::conditional_t<std::is_integral_v<T>, std::make_unsigned_t<signed_of<T>>, T>;

// Hides the origin of a vector from g++ 12, at no cost. In a function without a target attribute, truth values of a
// comparison are 32-bit lanes. If such a function were inlined into one for AVX-512, whose truth values are bits, the
// optimiser might combine two of them; it has no instruction for that and would go lane by lane.
template <class Isa, class V>
PINION_VECTOR V opaque(const V& x) {
  V v = x;
#if defined(__x86_64__) && !defined(__clang__)
  if constexpr (Isa::bytes == 64 && sizeof(V) >= 16 && sizeof(V) <= 64) asm("" : "+v"(v));
#endif
  return v;
}

// Copies n elements, for n < 2 Count. It makes no call, before which a kernel would have to save its registers.
template <int Count, class T>
PINION_VECTOR void copy_fewer(T* to, const T* from, int n) {
  if (n & Count) {
    __builtin_memcpy(to, from, Count * sizeof(T));
    to += Count, from += Count;
  }
  if constexpr (Count > 1) copy_fewer<Count / 2>(to, from, n);
}

// Divides without traps: x / 0 is 0, and the smallest integer / -1 is itself.
template <class T>
PINION_VECTOR T divide(T a, T b) {
  if (b == 0) return 0;
  if (std::is_signed_v<T> && b == T(-1)) return static_cast<T>(wrapping<T>(0) - wrapping<T>(a));
  return static_cast<T>(a / b);
}

}  // namespace detail

template <class T, class Isa, int Lanes = natural_lanes<T, Isa>>
struct simd;

// The result of comparing two simd<T, Isa>: all bits of a lane are set, or none. In memory it is bytes of 0 and 1.
template <class T, class Isa, int Lanes = natural_lanes<T, Isa>>
struct mask {
  using value_type = bool;
  static constexpr int lanes = Lanes;
  using vector = detail::vector<detail::signed_of<T>, Lanes>;

  mask() = default;
  PINION_VECTOR explicit mask(const vector& raw) : stored_(raw) {}
  PINION_VECTOR mask(bool x) : stored_(detail::signed_of<T>(-detail::signed_of<T>(x)) - vector{}) {}
  PINION_VECTOR vector raw() const { return (vector)stored_; }

  static PINION_VECTOR mask load(const bool* p) {
    bytes b;
    __builtin_memcpy(&b, p, lanes);
    return mask(-__builtin_convertvector(b, vector));
  }
  PINION_VECTOR void store(bool* p) const {
    const bytes b = __builtin_convertvector(-raw(), bytes);
    __builtin_memcpy(p, &b, lanes);
  }

  friend PINION_VECTOR mask operator&&(mask a, mask b) { return mask(a.opaque() & b.opaque()); }
  friend PINION_VECTOR mask operator||(mask a, mask b) { return mask(a.opaque() | b.opaque()); }
  friend PINION_VECTOR mask operator!(mask a) { return mask(~a.raw()); }

  // A friend of the mask, so that both choices may be plain numbers: select(x > 0, 1, 0).
  friend PINION_VECTOR simd<T, Isa, Lanes> select(mask m, simd<T, Isa, Lanes> a, simd<T, Isa, Lanes> b) {
    return simd<T, Isa, Lanes>(detail::opaque<Isa>(m.raw() ? a.raw() : b.raw()));
  }

 private:
  PINION_VECTOR vector opaque() const { return detail::opaque<Isa>(raw()); }
  using bytes = detail::vector<std::int8_t, Lanes>;
  detail::stored_vector<detail::signed_of<T>, Lanes> stored_;
};

// A vector of T. A number of lanes other than the natural one is what convert() makes between elements of different
// size; such a value has arithmetic, loads, stores and conversions, but no mathematical functions.
template <class T, class Isa, int Lanes>
struct simd {
  using value_type = T;
  using isa = Isa;
  using mask_type = mask<T, Isa, Lanes>;
  using vector = detail::vector<T, Lanes>;
  static constexpr int lanes = Lanes;

  simd() = default;
  PINION_VECTOR explicit simd(const vector& raw) : stored_(raw) {}
  PINION_VECTOR simd(T x) : stored_(x - vector{}) {}  // x - 0 is x, also for -0
  PINION_VECTOR vector raw() const { return (vector)stored_; }

  // The constructor of one number, for a number that is known at run time alone.
  static PINION_VECTOR simd splat(T x) {
    if constexpr (detail::native<Isa>::has_splat && std::is_floating_point_v<T> && Lanes == natural_lanes<T, Isa>) {
      vector all;
      detail::native<Isa>::splat(all, x);
      return simd(all);
    } else {
      return x;
    }
  }
  static PINION_VECTOR simd load(const T* p) {
    simd x;
    __builtin_memcpy(&x.stored_, p, sizeof(vector));
    return x;
  }
  // Loads the first n elements, and zeros for the other lanes.
  static PINION_VECTOR simd load(const T* p, int n) {
    if (n >= lanes) return load(p);
    T some[lanes] = {};
    detail::copy_fewer<lanes / 2>(some, p, n);
    return load(some);
  }
  PINION_VECTOR void store(T* p) const { __builtin_memcpy(p, &stored_, sizeof(vector)); }
  PINION_VECTOR void store(T* p, int n) const {
    if (n >= lanes) return store(p);
    T all[lanes];
    store(all);
    detail::copy_fewer<lanes / 2>(p, all, n);
  }
  PINION_VECTOR T operator[](int lane) const { return raw()[lane]; }

  friend PINION_VECTOR simd operator+(simd a, simd b) { return simd((vector)(a.w() + b.w())); }
  friend PINION_VECTOR simd operator-(simd a, simd b) { return simd((vector)(a.w() - b.w())); }
  friend PINION_VECTOR simd operator*(simd a, simd b) { return simd((vector)(a.w() * b.w())); }
  friend PINION_VECTOR simd operator-(simd a) { return simd((vector)(-a.w())); }
  friend PINION_VECTOR simd operator/(simd a, simd b) {
    if constexpr (std::is_integral_v<T>) {
      vector quotient{};
      for (int i = 0; i < lanes; ++i) quotient[i] = detail::divide<T>(a[i], b[i]);
      return simd(quotient);
    } else {
      return simd(a.raw() / b.raw());
    }
  }

  friend PINION_VECTOR mask_type operator<(simd a, simd b) { return mask_type((mask_vector)(a.raw() < b.raw())); }
  friend PINION_VECTOR mask_type operator<=(simd a, simd b) { return mask_type((mask_vector)(a.raw() <= b.raw())); }
  friend PINION_VECTOR mask_type operator>(simd a, simd b) { return mask_type((mask_vector)(a.raw() > b.raw())); }
  friend PINION_VECTOR mask_type operator>=(simd a, simd b) { return mask_type((mask_vector)(a.raw() >= b.raw())); }
  friend PINION_VECTOR mask_type operator==(simd a, simd b) { return mask_type((mask_vector)(a.raw() == b.raw())); }
  friend PINION_VECTOR mask_type operator!=(simd a, simd b) { return mask_type((mask_vector)(a.raw() != b.raw())); }

  friend PINION_VECTOR simd min(simd a, simd b) {
    if constexpr (native_min) {
      vector least;
      detail::native<Isa>::min(least, a.raw(), b.raw());
      return nan_or(b, simd(least));
    } else {
      return nan_or(b, select(b < a, b, a));
    }
  }
  friend PINION_VECTOR simd max(simd a, simd b) { return nan_or(b, greater(a, b)); }
  // The greater operand, in one instruction; a where either is NaN.
  friend PINION_VECTOR simd greater(simd a, simd b) {
    if constexpr (native_min) {
      vector greatest;
      detail::native<Isa>::max(greatest, a.raw(), b.raw());
      return simd(greatest);
    } else {
      return select(a < b, b, a);
    }
  }
  friend PINION_VECTOR simd fma(simd a, simd b, simd c) { return simd((vector)(a.w() * b.w() + c.w())); }

 private:
  static constexpr bool native_min =
      detail::native<Isa>::has_min && std::is_floating_point_v<T> && Lanes == natural_lanes<T, Isa>;
  // b where it is NaN, else y, which is a where either is NaN. It costs nothing if b is a constant.
  static PINION_VECTOR simd nan_or(simd b, simd y) {
    if constexpr (std::is_floating_point_v<T>)
      return select(b == b, y, b);
    else
      return y;
  }
  using mask_vector = typename mask_type::vector;
  using wrapping_vector = detail::vector<detail::wrapping<T>, Lanes>;
  detail::stored_vector<T, Lanes> stored_;
  PINION_VECTOR wrapping_vector w() const { return (wrapping_vector)raw(); }
};

// ---- bits

// Takes the bits for elements of another type of the same size.
template <class U, class T, class Isa, int N>
PINION_VECTOR simd<U, Isa, N> bit_cast(simd<T, Isa, N> x) {
  static_assert(sizeof(U) == sizeof(T), "bit_cast keeps the size of an element");
  return simd<U, Isa, N>((detail::vector<U, N>)x.raw());
}

template <std::integral T, class Isa, int N>
PINION_VECTOR simd<T, Isa, N> operator&(simd<T, Isa, N> a, std::type_identity_t<simd<T, Isa, N>> b) {
  return simd<T, Isa, N>(a.raw() & b.raw());
}
template <std::integral T, class Isa, int N>
PINION_VECTOR simd<T, Isa, N> operator|(simd<T, Isa, N> a, std::type_identity_t<simd<T, Isa, N>> b) {
  return simd<T, Isa, N>(a.raw() | b.raw());
}
template <std::integral T, class Isa, int N>
PINION_VECTOR simd<T, Isa, N> operator^(simd<T, Isa, N> a, std::type_identity_t<simd<T, Isa, N>> b) {
  return simd<T, Isa, N>(a.raw() ^ b.raw());
}
// Shifts by a constant number of bits. To the left, bits fall off; to the right, the sign is repeated.
template <std::integral T, class Isa, int N>
PINION_VECTOR simd<T, Isa, N> operator<<(simd<T, Isa, N> x, int bits) {
  using words = detail::vector<detail::wrapping<T>, N>;
  return simd<T, Isa, N>((detail::vector<T, N>)((words)x.raw() << bits));
}
template <std::integral T, class Isa, int N>
PINION_VECTOR simd<T, Isa, N> operator>>(simd<T, Isa, N> x, int bits) {
  return simd<T, Isa, N>(x.raw() >> bits);
}

// The sign bit of a value, and a value with the sign bit of another.
template <class T, class Isa, int N>
PINION_VECTOR auto sign_bit(simd<T, Isa, N> x) {
  using I = detail::signed_of<T>;
  return bit_cast<I>(x) & std::numeric_limits<I>::min();
}
template <class T, class Isa, int N>
PINION_VECTOR simd<T, Isa, N> or_sign(simd<T, Isa, N> magnitude, simd<T, Isa, N> sign) {
  return bit_cast<T>(bit_cast<detail::signed_of<T>>(magnitude) | sign_bit(sign));
}

// ---- conversions

// Converts each lane as C does; the number of lanes stays. A floating-point number out of range becomes an unspecified
// integer, and an integer is cut to its low bits.
template <class U, class T, class Isa, int N>
PINION_VECTOR simd<U, Isa, N> convert(simd<T, Isa, N> x) {
  if constexpr (std::is_floating_point_v<T> && sizeof(U) == 1) {
    return convert<U>(convert<std::int32_t>(x));
  } else {
    return simd<U, Isa, N>(__builtin_convertvector(x.raw(), detail::vector<U, N>));
  }
}

// 1 if the mask is true, else 0.
template <class U, class T, class Isa, int N>
PINION_VECTOR simd<U, Isa, N> convert(mask<T, Isa, N> m) {
  return simd<U, Isa, N>(__builtin_convertvector(-m.raw(), detail::vector<U, N>));
}

// ---- halves

template <class T, class Isa, int N>
PINION_VECTOR simd<T, Isa, N / 2> lower_half(simd<T, Isa, N> x) {
  return simd<T, Isa, N / 2>(detail::lanes_from<0>(x.raw(), std::make_integer_sequence<int, N / 2>{}));
}
template <class T, class Isa, int N>
PINION_VECTOR simd<T, Isa, N / 2> upper_half(simd<T, Isa, N> x) {
  return simd<T, Isa, N / 2>(detail::lanes_from<N / 2>(x.raw(), std::make_integer_sequence<int, N / 2>{}));
}
template <class T, class Isa, int N>
PINION_VECTOR simd<T, Isa, 2 * N> join(simd<T, Isa, N> low, simd<T, Isa, N> high) {
  return simd<T, Isa, 2 * N>(detail::joined(low.raw(), high.raw(), std::make_integer_sequence<int, 2 * N>{}));
}

namespace detail {
template <class Isa, int N>
PINION_VECTOR bool any_bit(simd<std::int64_t, Isa, N> x) {
  if constexpr (N == 2)
    return (x[0] | x[1]) != 0;
  else
    return any_bit(lower_half(x) | upper_half(x));
}
}  // namespace detail

// True if the mask is true in some lane.
template <class T, class Isa, int N>
PINION_VECTOR bool any(mask<T, Isa, N> m) {
  using V = typename mask<T, Isa, N>::vector;
  if constexpr (sizeof(V) >= 16) {
    constexpr int words = sizeof(V) / 8;
    return detail::any_bit(simd<std::int64_t, Isa, words>((detail::vector<std::int64_t, words>)m.raw()));
  } else {
    const V v = m.raw();
    std::uint64_t bits = 0;
    __builtin_memcpy(&bits, &v, sizeof v);
    return bits != 0;
  }
}

// ---- sums

namespace detail {
struct plus_lanes {
  template <class T>
  PINION_VECTOR T operator()(T a, T b) const {
    return static_cast<T>(wrapping<T>(a) + wrapping<T>(b));
  }
};
}  // namespace detail

// The sum of the lanes in a fixed order: the upper half is added to the lower half, until one lane is left.
template <class T, class Isa, int N>
PINION_VECTOR T horizontal_sum(simd<T, Isa, N> x) {
  if constexpr (N == 1) {
    return x[0];
  } else {
    detail::vector<T, N / 2> halves[2];
    x.store(reinterpret_cast<T*>(halves));
    return horizontal_sum(simd<T, Isa, N / 2>(halves[0]) + simd<T, Isa, N / 2>(halves[1]));
  }
}

// ---- abs, sign, rounding, sqrt

// The absolute value; the smallest integer stays as it is.
template <class T, class Isa, int N>
PINION_VECTOR simd<T, Isa, N> abs(simd<T, Isa, N> x) {
  if constexpr (std::is_floating_point_v<T>) {
    using I = detail::signed_of<T>;
    return bit_cast<T>(bit_cast<I>(x) & std::numeric_limits<I>::max());
  } else if constexpr (std::is_signed_v<T>) {
    return select(x < T(0), -x, x);
  } else {
    return x;
  }
}

// -1, 0 or 1; a zero keeps its sign, and NaN stays NaN.
template <class T, class Isa, int N>
PINION_VECTOR simd<T, Isa, N> sign(simd<T, Isa, N> x) {
  const auto negative = std::is_signed_v<T> ? select(x < T(0), T(-1), x) : x;
  return select(x > T(0), T(1), negative);
}

// The nearest integer; the even one of two that are equally near. A number is rounded by adding and subtracting 2^23
// (2^52 for double), above which all numbers are integers.
template <class T, class Isa, int N>
PINION_VECTOR simd<T, Isa, N> round(simd<T, Isa, N> x) {
  if constexpr (std::is_floating_point_v<T>) {
    const simd<T, Isa, N> magic = sizeof(T) == 4 ? T(0x1p23) : T(0x1p52);
    const auto magnitude = abs(x);
    const auto rounded = or_sign((magnitude + magic) - magic, x);
    return select(magnitude < magic, rounded, x);
  } else {
    return x;
  }
}

template <class T, class Isa, int N>
PINION_VECTOR simd<T, Isa, N> floor(simd<T, Isa, N> x) {
  if constexpr (std::is_floating_point_v<T>) {
    const auto nearest = round(x);
    return select(nearest > x, nearest - T(1), nearest);
  } else {
    return x;
  }
}

template <class T, class Isa, int N>
PINION_VECTOR simd<T, Isa, N> ceil(simd<T, Isa, N> x) {
  if constexpr (std::is_floating_point_v<T>) {
    return -floor(-x);
  } else {
    return x;
  }
}

// The square root, correctly rounded.
template <std::floating_point T, class Isa>
PINION_VECTOR simd<T, Isa> sqrt(simd<T, Isa> x) {
  typename simd<T, Isa>::vector root;
  if constexpr (detail::native<Isa>::has_square_root) {
    detail::native<Isa>::square_root(root, x.raw());
  } else {
    root = x.raw();
    for (int i = 0; i < x.lanes; ++i) root[i] = sizeof(T) == 4 ? __builtin_sqrtf(x[i]) : __builtin_sqrt(x[i]);
  }
  return simd<T, Isa>(root);
}

}}}  // namespace pinion::v0::scalar
PINION_EXACT_END
