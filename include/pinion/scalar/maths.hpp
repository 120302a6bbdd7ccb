// The mathematical functions of simd values: exp, log, tanh and others, without branches and without tables.
//
// Every function works lane by lane, keeps NaN, and is right at the infinities, at zeros of either sign (odd functions
// keep the sign), and for denormal inputs and results, which are not flushed to zero. The comment of each states its
// largest error in ulp (units in the last place of the exact result) for float / double, on any instruction set, with
// and without fused multiply-add. bench/maths_ulp measures it over every float and over samples of double.
//
// Each function splits its argument so that a small rest is left (n ln 2 + r, 2^e (1 + f), n pi/2 + r), evaluates a
// polynomial of the rest, and assembles the result. The polynomials minimise the largest relative error of the function
// (Remez exchange in 40 digits). A function with a hard case (pow, and sin and cos of large floats) is computed in
// double.
#pragma once

#include <pinion/scalar/simd.hpp>

PINION_EXACT_BEGIN
namespace pinion { inline namespace v0 { namespace scalar {

namespace detail {

// ---- constants of a floating-point type

template <class T>
struct real;

template <>
struct real<float> {
  using bits = std::int32_t;
  static constexpr int mantissa = 23;
  static constexpr int bias = 127;
  static constexpr float infinity = __builtin_inff(), nan = __builtin_nanf("");
  static constexpr float smallest_normal = 0x1p-126f;
  static constexpr bits sqrt_half = 0x3f3504f3;
  // ln 2 in two parts; the product of an exponent and the first part is exact.
  static constexpr float ln2_high = 0x1.62e4p-1f, ln2_low = 1.42860677e-6f, log2_e = 1.44269504f;
  static constexpr float exp_highest = 89;    // beyond this the result is infinity
  static constexpr float expm1_lowest = -18;  // beyond this the result is -1
};

template <>
struct real<double> {
  using bits = std::int64_t;
  static constexpr int mantissa = 52;
  static constexpr int bias = 1023;
  static constexpr double infinity = __builtin_inf(), nan = __builtin_nan("");
  static constexpr double smallest_normal = 0x1p-1022;
  static constexpr bits sqrt_half = 0x3fe6a09e667f3bcd;
  static constexpr double ln2_high = 0x1.62e42feep-1, ln2_low = 0x1.a39ef35793c76p-33, log2_e = 1.4426950408889634;
  static constexpr double exp_highest = 710;
  static constexpr double expm1_lowest = -40;
};

// Adding this number rounds to an integer and leaves it in the low bits, where a shift can take it.
template <class T>
inline constexpr T round_magic = T(3ll << (real<T>::mantissa - 1));

template <class T>
inline constexpr typename real<T>::bits one_bits = typename real<T>::bits(real<T>::bias) << real<T>::mantissa;

template <class T>
inline constexpr typename real<T>::bits mantissa_mask = (typename real<T>::bits(1) << real<T>::mantissa) - 1;

// c0 + x (c1 + x (c2 + ...)), by Horner's rule.
template <class V>
PINION_VECTOR V polynomial(V, typename V::value_type c0) {
  return c0;
}
template <class V, class... C>
PINION_VECTOR V polynomial(V x, typename V::value_type c0, C... higher) {
  return fma(polynomial(x, higher...), x, c0);
}

// Moves the low bits of a mantissa up to the place of the exponent.
template <class T, class B, class Isa, int N>
PINION_VECTOR simd<T, Isa, N> as_exponent(simd<B, Isa, N> bits) {
  return bit_cast<T>(bits << real<T>::mantissa);
}

// x times 2^n for an integer n, also where the result is infinite or denormal. Without an instruction for it, it takes
// two steps, since no single factor reaches so far. Requires: |n| <= 2 bias, or such an instruction.
template <class T, class Isa>
PINION_VECTOR simd<T, Isa> scale(simd<T, Isa> x, simd<T, Isa> n) {
  if constexpr (native<Isa>::has_scale) {
    typename simd<T, Isa>::vector y;
    native<Isa>::scale(y, x.raw(), n.raw());
    return simd<T, Isa>(y);
  } else {
    using unsigned_bits = wrapping<typename real<T>::bits>;
    const auto sum = bit_cast<unsigned_bits>(n + (round_magic<T> + T(2 * real<T>::bias)));  // n + 2 bias
    const auto half = sum >> 1;
    return x * as_exponent<T>(half) * as_exponent<T>(sum - half);
  }
}

// ---- the exponential family

// The parts of x = n ln 2 + r with |r| <= ln 2 / 2.
template <class V>
struct exp_argument {
  V sum, n, r;  // sum is n + magic
};

// Splits x. Requires: magic rounds, as round_magic plus a small integer does.
template <class T, class Isa>
PINION_VECTOR exp_argument<simd<T, Isa>> reduce_exp(simd<T, Isa> x, T magic) {
  using c = real<T>;
  const auto sum = fma(x, c::log2_e, magic);
  const auto n = sum - magic;
  return {sum, n, fma(n, -c::ln2_low, fma(n, -c::ln2_high, x))};
}

// (e^r - 1 - r) / r^2 for |r| <= ln 2 / 2. With these polynomials, e^r has the errors 2^-26 and 2^-55.
template <class Isa>
PINION_VECTOR simd<float, Isa> exp_beyond_line(simd<float, Isa> r) {
  return polynomial(r, 0.49999997f, 0.166665435f, 0.0416672006f, 0.00836658012f, 0.00138825132f);
}
template <class Isa>
PINION_VECTOR simd<double, Isa> exp_beyond_line(simd<double, Isa> r) {
  return polynomial(r, 0.5, 0.16666666666666588, 0.041666666666576098, 0.0083333333333899633, 0.0013888888931797079,
                    0.00019841269718317539, 2.4801504976809769e-05, 2.7557407897437824e-06, 2.7626162125558834e-07,
                    2.5053763550737627e-08);
}

// A number whose exponential is 0, without a result in between that is denormal: a processor takes 50 times as long for
// such a one. Factors 2^(n/2) are 0 where n is -2 bias; the instruction for 2^n is fast again where n is far lower.
template <class T, class Isa>
inline constexpr T exp_lowest = native<Isa>::has_scale ? T(-16 * real<T>::bias) : T(-2 * real<T>::bias) * T(0.69314);

// e^r - 1 for |r| <= ln 2 / 2.
template <class V>
PINION_VECTOR V expm1_near_zero(V r) {
  return fma(r * r, exp_beyond_line(r), r);
}

}  // namespace detail

// The exponential e^x. 1.1 / 1.6 ulp.
template <std::floating_point T, class Isa>
PINION_VECTOR simd<T, Isa> exp(simd<T, Isa> x) {
  using c = detail::real<T>;
  const auto [sum, n, r] =
      detail::reduce_exp(min(max(x, detail::exp_lowest<T, Isa>), c::exp_highest), detail::round_magic<T>);
  return detail::scale(detail::expm1_near_zero(r) + T(1), n);
}

// e^x for x <= 0, in fewer steps. 1.3 / 1.8 ulp.
template <std::floating_point T, class Isa>
PINION_VECTOR simd<T, Isa> exp_of_negative(simd<T, Isa> x) {
  const auto [sum, n, r] = detail::reduce_exp(max(x, detail::exp_lowest<T, Isa>), detail::round_magic<T>);
  return detail::scale(fma(fma(detail::exp_beyond_line(r), r, T(1)), r, T(1)), n);
}

// e^x - 1, accurate near 0 too. 1.8 / 3 ulp.
//
// With p = e^r - 1 the result is 2^n p + (2^n - 1). Half of it is computed, since 2^n may be just too large.
template <std::floating_point T, class Isa>
PINION_VECTOR simd<T, Isa> expm1(simd<T, Isa> x) {
  using c = detail::real<T>;
  constexpr T magic = detail::round_magic<T> + T(c::bias - 1);  // rounds, and adds the exponent of 1/2
  const auto [sum, n, r] = detail::reduce_exp(min(max(x, c::expm1_lowest), c::exp_highest), magic);
  const auto half = detail::as_exponent<T>(bit_cast<typename c::bits>(sum));  // 2^(n-1)
  const auto y = fma(half, detail::expm1_near_zero(r), half - T(0.5));
  return or_sign(y + y, x);
}

// The hyperbolic tangent. 2.6 / 3.5 ulp.
//
// It is computed from m = e^(-2|x|) - 1, which is accurate where |x| is small: tanh |x| = -m / (m + 2).
template <std::floating_point T, class Isa>
PINION_VECTOR simd<T, Isa> tanh(simd<T, Isa> x) {
  const auto m = expm1(abs(x) * T(-2));
  return or_sign(abs(m / (m + T(2))), x);
}

// ---- logarithms

namespace detail {

// The parts of y = 2^e m with m in [sqrt(1/2), sqrt(2)), for a positive normal y. Adding the distance from sqrt(1/2) to
// 1 to the bits rounds the exponent; placed at the low end of the mantissa of 2^mantissa, it becomes a number.
template <class V>
struct log_argument {
  V e, m, power;  // power is 2^(1-e)
};

template <class T, class Isa>
PINION_VECTOR log_argument<simd<T, Isa>> reduce_log(simd<T, Isa> y) {
  using c = real<T>;
  using B = typename c::bits;
  constexpr T magic = T(B(1) << c::mantissa);
  constexpr B magic_bits = B(c::bias + c::mantissa) << c::mantissa;
  const auto u = bit_cast<B>(y) + (one_bits<T> - c::sqrt_half);
  const auto exponent = bit_cast<B>(bit_cast<wrapping<B>>(u) >> c::mantissa);
  return {bit_cast<T>(exponent | magic_bits) - (magic + T(c::bias)), bit_cast<T>((u & mantissa_mask<T>)+c::sqrt_half),
          bit_cast<T>(simd<B, Isa>(2 * one_bits<T> + mantissa_mask<T> + 1) - (u & ~mantissa_mask<T>))};
}

// e ln 2 + log(1 + f) for f in [sqrt(1/2) - 1, sqrt(2) - 1).
//
// In float, log(1 + f) = f - f^2 / 2 + f^3 P(f); P has the error 2^-27.
template <class Isa>
PINION_VECTOR simd<float, Isa> log_sum(simd<float, Isa> e, simd<float, Isa> f) {
  using c = real<float>;
  const auto p = polynomial(f, 0.333333313f, -0.250008255f, 0.200012356f, -0.166231453f, 0.142013714f, -0.131620035f,
                            0.12765415f, -0.0763437599f);
  const auto square = f * f;
  const auto tail = fma(square, f * p, fma(e, c::ln2_low, square * -0.5f));
  return fma(e, c::ln2_high, f + tail);
}
// The form for double is that of FreeBSD's e_log.c. With s = f / (2 + f), log(1 + f) = 2 atanh(s) = 2s + s R(s^2),
// which is rearranged to f - (h - s (h + R)) with h = f^2 / 2. R has the error 2^-59.
template <class Isa>
PINION_VECTOR simd<double, Isa> log_sum(simd<double, Isa> e, simd<double, Isa> f) {
  using c = real<double>;
  const auto s = f / (f + 2.0);
  const auto z = s * s;
  const auto r = z * polynomial(z, 0.66666666666667351, 0.39999999999407504, 0.2857142874413936, 0.22222198378607508,
                                0.18183575161602067, 0.1531375580583641, 0.14799066039504141);
  const auto h = f * f * 0.5;
  const auto tail = fma(e, c::ln2_low, s * (h + r)) - h;
  return fma(e, c::ln2_high, f + tail);
}

}  // namespace detail

// The natural logarithm; -infinity at 0, NaN below. 1 / 1 ulp.
template <std::floating_point T, class Isa>
PINION_VECTOR simd<T, Isa> log(simd<T, Isa> x) {
  using c = detail::real<T>;
  constexpr T up = T(std::int64_t(1) << c::mantissa);
  const auto denormal = x < c::smallest_normal;
  const auto [e, m, power] = detail::reduce_log(select(denormal, x * up, x));
  const auto y = detail::log_sum(e - select(denormal, T(c::mantissa), T(0)), m - T(1));
  const simd<T, Isa> nan = c::nan;
  return select(x > T(0), select(x < c::infinity, y, x), select(x == T(0), -c::infinity, nan));
}

// log(1 + x), accurate near 0 too; -infinity at -1, NaN below. 1.5 / 1.5 ulp.
//
// The part that rounding u = 1 + x loses is added to f, scaled as u was.
template <std::floating_point T, class Isa>
PINION_VECTOR simd<T, Isa> log1p(simd<T, Isa> x) {
  using c = detail::real<T>;
  const auto u = x + T(1);
  const auto lost = select(x > T(1), T(1) - (u - x), x - (u - T(1)));
  const auto [e, m, power] = detail::reduce_log(u);
  const auto y = or_sign(abs(detail::log_sum(e, fma(lost * T(0.5), power, m - T(1)))), x);
  const simd<T, Isa> nan = c::nan;
  return select(x > T(-1), select(x < c::infinity, y, x), select(x == T(-1), -c::infinity, nan));
}

// The reciprocal square root, 1 / sqrt(x); at 0 it is infinity with the sign of the 0. 1.5 / 1.5 ulp.
template <std::floating_point T, class Isa>
PINION_VECTOR simd<T, Isa> rsqrt(simd<T, Isa> x) {
  return T(1) / sqrt(x);
}

// ---- help from elsewhere: the C library lane by lane, and double for float

namespace detail {

// Calls a function of the C library on every lane. It is not inlined, since it is compiled for no instruction set in
// particular.
template <class F, int N>
__attribute__((noinline)) void call_lanes(double* x, const double* y) {
  for (int i = 0; i < N; ++i) x[i] = F::of(x[i], y[i]);
}
template <class F, class Isa>
PINION_VECTOR simd<double, Isa> each_lane(simd<double, Isa> x, simd<double, Isa> y) {
  double a[simd<double, Isa>::lanes], b[simd<double, Isa>::lanes];
  x.store(a);
  y.store(b);
  call_lanes<F, simd<double, Isa>::lanes>(a, b);
  return simd<double, Isa>::load(a);
}

struct library_sin {
  static double of(double x, double) { return __builtin_sin(x); }
};
struct library_cos {
  static double of(double x, double) { return __builtin_cos(x); }
};
struct library_erf {
  static double of(double x, double) { return __builtin_erf(x); }
};
struct library_erfc {
  static double of(double x, double) { return __builtin_erfc(x); }
};
struct library_pow {
  static double of(double x, double y) { return __builtin_pow(x, y); }
};

// ---- sine and cosine

// sin(r) and cos(r) for |r| <= pi/4, with the errors 2^-58 and 2^-64.
template <class V>
PINION_VECTOR V sin_near_zero(V r) {
  const V z = r * r;
  const V p = polynomial(z, -0.16666666666666632, 0.0083333333333223698, -0.00019841269829771097,
                         2.7557313678647987e-06, -2.5050755959308599e-08, 1.5896666411296703e-10);
  return fma(r * z, p, r);
}
template <class V>
PINION_VECTOR V cos_near_zero(V r) {
  const V z = r * r;
  const V p = polynomial(z, 0.041666666666666602, -0.0013888888888874064, 2.4801587289443543e-05,
                         -2.7557314340677814e-07, 2.0875721626217735e-09, -1.1359559456330398e-11);
  return fma(z * z, p, fma(z, -0.5, 1.0));
}

// sin(x + quarters pi/2). x = n pi/2 + r, with pi/2 in three parts; the products of the first two with n < 2^20 are
// exact. For larger x, and for NaN, the C library takes over lane by lane.
template <class Library, class Isa>
PINION_VECTOR simd<double, Isa> sin_of_shifted(simd<double, Isa> x, int quarters) {
  constexpr double magic = round_magic<double>;
  const auto sum = fma(x, 0.63661977236758134, magic);
  const auto n = sum - magic;
  const auto r = fma(n, -0x1.3198a2e037073p-69, fma(n, -0x1.0b4611a6p-34, fma(n, -0x1.921fb544p+0, x)));
  const auto quadrant = bit_cast<std::int64_t>(sum) + std::int64_t(quarters);
  const auto half = fma(n, 0.5, magic) - magic;
  const auto odd = quarters % 2 ? half + half == n : half + half != n;
  const auto y = select(odd, cos_near_zero(r), sin_near_zero(r));
  const auto shifted = bit_cast<double>(bit_cast<std::int64_t>(y) ^ sign_bit(quadrant << 62));
  const auto large = !(abs(x) < 1.6e6);
  return any(large) ? select(large, each_lane<Library>(x, x), shifted) : shifted;
}

// Computes a function of floats in double, for one half of the lanes after the other.
template <class F, class Isa>
PINION_VECTOR simd<float, Isa> in_double(simd<float, Isa> x, simd<float, Isa> y) {
  const auto low = F::of(convert<double>(lower_half(x)), convert<double>(lower_half(y)));
  const auto high = F::of(convert<double>(upper_half(x)), convert<double>(upper_half(y)));
  return join(convert<float>(low), convert<float>(high));
}

}  // namespace detail

// The sine and cosine. 0.6 / 2.6 ulp; for |x| >= 1.6e6 those of the C library.
template <class Isa>
PINION_VECTOR simd<double, Isa> sin(simd<double, Isa> x) {
  return select(x == 0.0, x, detail::sin_of_shifted<detail::library_sin>(x, 0));
}
template <class Isa>
PINION_VECTOR simd<double, Isa> cos(simd<double, Isa> x) {
  return detail::sin_of_shifted<detail::library_cos>(x, 1);
}

// The functions of the C library, lane by lane.
template <class Isa>
PINION_VECTOR simd<double, Isa> erf(simd<double, Isa> x) {
  return detail::each_lane<detail::library_erf>(x, x);
}
template <class Isa>
PINION_VECTOR simd<double, Isa> erfc(simd<double, Isa> x) {
  return detail::each_lane<detail::library_erfc>(x, x);
}
template <class Isa>
PINION_VECTOR simd<double, Isa> pow(simd<double, Isa> x, std::type_identity_t<simd<double, Isa>> y) {
  return detail::each_lane<detail::library_pow>(x, y);
}

namespace detail {
struct sin_in_double {
  template <class V>
  static PINION_VECTOR V of(V x, V) {
    return sin(x);
  }
};
struct cos_in_double {
  template <class V>
  static PINION_VECTOR V of(V x, V) {
    return cos(x);
  }
};
// e^(y log x) for x >= 0; 1 if x is 1 or y is 0, whatever the other is.
struct power_of_magnitude {
  template <class V>
  static PINION_VECTOR V of(V x, V y) {
    const V zero = 0.0;
    const V l = log(x);
    return exp(select(l == zero || y == zero, zero, y * l));
  }
};
}  // namespace detail

template <class Isa>
PINION_VECTOR simd<float, Isa> sin(simd<float, Isa> x) {
  return detail::in_double<detail::sin_in_double>(x, x);
}
template <class Isa>
PINION_VECTOR simd<float, Isa> cos(simd<float, Isa> x) {
  return detail::in_double<detail::cos_in_double>(x, x);
}

// x to the power y, with the special cases of C: pow(x, 0) and pow(1, y) are 1 even for NaN, and a negative x needs an
// integer y, whose parity gives the sign of the result. 0.6 ulp.
template <class Isa>
PINION_VECTOR simd<float, Isa> pow(simd<float, Isa> x, std::type_identity_t<simd<float, Isa>> y) {
  const auto magnitude = detail::in_double<detail::power_of_magnitude>(abs(x), y);
  const auto half = y * 0.5f;
  const auto integer = floor(y) == y;
  const auto odd = integer && floor(half) != half;
  const auto y_or_nan = select(x < 0.0f && abs(x) < detail::real<float>::infinity && !integer,
                               simd<float, Isa>(detail::real<float>::nan), magnitude);
  return select(odd, or_sign(y_or_nan, x), y_or_nan);
}
template <class T, class Isa>
PINION_VECTOR simd<T, Isa> pow(std::type_identity_t<T> x, simd<T, Isa> y) {
  return pow(simd<T, Isa>(x), y);
}

namespace detail {
// erf(x) for |x| <= 1, as x + x P(x^2), where P has the error 2^-29.
template <class V>
PINION_VECTOR V erf_near_zero(V x) {
  const V p = polynomial(x * x, 0.128379166f, -0.37612626f, 0.112835854f, -0.0268538129f, 0.00518832775f,
                         -0.000801019371f, 7.85386073e-05f);
  return fma(x, p, x);
}
}  // namespace detail

// The error function. 1.4 ulp for float; in double that of the C library. Above 1, with t = |x|, it is 1 - e^(-t Q(t)),
// where Q has the error 2^-29 of the result.
template <class Isa>
PINION_VECTOR simd<float, Isa> erf(simd<float, Isa> x) {
  const auto t = min(abs(x), 4.0f);
  const auto q = detail::polynomial(t, 1.12869251f, 0.634960115f, 0.10657493f, -0.0240732189f, 0.00379948481f,
                                    -0.000363943953f, 1.55975176e-05f);
  return or_sign(select(t < 1.0f, detail::erf_near_zero(t), 1.0f - exp(-t * q)), x);
}

// The complementary error function 1 - erf(x), without the loss of that difference for large x. 4.5 ulp for float; in
// double that of the C library.
//
// With t = |x| it is e^(-t^2) P((t - 2) / (t + 2)) / (t + 2), after Shepherd and Laframboise (1981), where P has the
// error 2^-28. The rounding of t^2, which that power would multiply, is taken back. Near 0 the difference loses
// nothing.
template <class Isa>
PINION_VECTOR simd<float, Isa> erfc(simd<float, Isa> x) {
  const auto t = min(abs(x), 10.2f);
  const auto inverse = 1.0f / (t + 2.0f), square = t * t;
  const auto p = detail::polynomial((t - 2.0f) * inverse, 1.02158271f, -0.687160696f, 0.279471766f, -0.0364418057f,
                                    -0.021505665f, 0.00647607062f, 0.00306244081f, -0.000832698973f, -0.000592583483f,
                                    4.76478758e-05f, 6.98577058e-05f);
  const auto power = exp(-square) * (p * inverse);
  const auto head = bit_cast<float>(bit_cast<std::int32_t>(t) & -4096);  // of 12 bits, whose square is exact
  const auto lost = (head * head - square) + (t + head) * (t - head);
  const auto above = fma(-lost, power, power);
  const auto far = select(x < 0.0f, 2.0f - above, above);
  return select(t < 0.7f, 1.0f - detail::erf_near_zero(x), far);
}

}}}  // namespace pinion::v0::scalar
PINION_EXACT_END
