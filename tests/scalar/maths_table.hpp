// The functions of maths.hpp with what they promise: the table that the tests sample and bench/maths_ulp walks through.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "pinion/scalar/maths.hpp"

namespace pinion_test {

namespace ps = pinion::scalar;

// A type with room for the exact result.
template <class T>
struct wider;
template <>
struct wider<float> {
  using type = double;
};
template <>
struct wider<double> {
  using type = long double;
};
template <class T>
using wide = typename wider<T>::type;

// The distance from the exact result in units of its last place; an infinity counts as the power of two it stands for.
template <class T>
double ulp_error(T got, wide<T> exact) {
  using limits = std::numeric_limits<T>;
  if (std::isnan(got) || std::isnan(exact)) return std::isnan(got) && std::isnan(exact) ? 0 : HUGE_VAL;
  if (got == static_cast<T>(exact)) {
    if (exact == 0 && std::signbit(got) != std::signbit(exact)) return HUGE_VAL;
    if (std::isinf(got)) return 0;
  }
  if (std::isinf(exact)) return HUGE_VAL;
  const wide<T> value =
      std::isinf(got) ? std::copysign(std::ldexp(wide<T>(1), limits::max_exponent), wide<T>(got)) : got;
  int exponent = 0;
  std::frexp(exact, &exponent);
  const int last_place = std::max(exponent, limits::min_exponent) - limits::digits;
  return static_cast<double>(std::abs(value - exact) / std::ldexp(wide<T>(1), last_place));
}

// A function of maths.hpp as a kernel: y[i] = F(x[i], x2[i]).
template <class F>
struct kernel {
  template <class Isa, class T>
  static PINION_INLINE void run(const T* x, const T* x2, T* y, int n) {
    using V = ps::simd<T, Isa>;
    for (int i = 0; i < n; i += V::lanes) F::of(V::load(x + i, n - i), V::load(x2 + i, n - i)).store(y + i, n - i);
  }
};

template <class T>
struct maths_function {
  const char* name;
  double bound;  // in ulp, as stated in maths.hpp
  T reach;       // beyond +-reach nothing interesting happens
  bool binary;
  ps::entry_table<const T*, const T*, T*, int> run;
  wide<T> (*exact)(wide<T>, wide<T>);
};

#define PINION_TEST_FUNCTION(name, vector, exact) \
  struct name##_function {                        \
    template <class V>                            \
    static PINION_INLINE V of(V x, V y) {         \
      (void)y;                                    \
      return vector;                              \
    }                                             \
    template <class W>                            \
    static W exactly(W x, W y) {                  \
      (void)y;                                    \
      return exact;                               \
    }                                             \
  };

PINION_TEST_FUNCTION(exp, exp(x), std::exp(x))
PINION_TEST_FUNCTION(exp_of_negative, exp_of_negative(-abs(x)), std::exp(-std::abs(x)))
PINION_TEST_FUNCTION(expm1, expm1(x), std::expm1(x))
PINION_TEST_FUNCTION(log, log(x), std::log(x))
PINION_TEST_FUNCTION(log1p, log1p(x), std::log1p(x))
PINION_TEST_FUNCTION(tanh, tanh(x), std::tanh(x))
PINION_TEST_FUNCTION(erf, erf(x), std::erf(x))
PINION_TEST_FUNCTION(erfc, erfc(x), std::erfc(x))
PINION_TEST_FUNCTION(sin, sin(x), std::sin(x))
PINION_TEST_FUNCTION(cos, cos(x), std::cos(x))
PINION_TEST_FUNCTION(sqrt, sqrt(x), std::sqrt(x))
PINION_TEST_FUNCTION(rsqrt, rsqrt(x), 1 / std::sqrt(x))
PINION_TEST_FUNCTION(floor, floor(x), std::floor(x))
PINION_TEST_FUNCTION(ceil, ceil(x), std::ceil(x))
PINION_TEST_FUNCTION(round, round(x), std::nearbyint(x))
PINION_TEST_FUNCTION(pow, pow(x, y), std::pow(x, y))

#undef PINION_TEST_FUNCTION

template <class T, class F>
maths_function<T> promise(const char* name, double float_bound, double double_bound, T reach, bool binary = false) {
  return {name,   std::is_same_v<T, float> ? float_bound : double_bound, reach,
          binary, ps::entries<kernel<F>, const T*, const T*, T*, int>,   &F::template exactly<wide<T>>};
}

template <class T>
std::vector<maths_function<T>> maths_functions() {
  constexpr bool single = std::is_same_v<T, float>;
  const T exp_reach = single ? 105 : 750;
  return {
      promise<T, exp_function>("exp", 1.1, 1.6, exp_reach),
      promise<T, exp_of_negative_function>("exp_of_negative", 1.3, 1.8, exp_reach),
      promise<T, expm1_function>("expm1", 1.8, 3, exp_reach),
      promise<T, log_function>("log", 1, 1, 100),
      promise<T, log1p_function>("log1p", 1.5, 1.5, 100),
      promise<T, tanh_function>("tanh", 2.6, 3.5, single ? 10 : 20),
      promise<T, erf_function>("erf", 1.4, 1.2, single ? 4 : 6),
      promise<T, erfc_function>("erfc", 4.5, 5.5, single ? 11 : 26),
      promise<T, sin_function>("sin", 0.6, 2.6, single ? 2e6f : 2e6),
      promise<T, cos_function>("cos", 0.6, 2.6, single ? 2e6f : 2e6),
      promise<T, sqrt_function>("sqrt", 0.5, 0.5, 100),
      promise<T, rsqrt_function>("rsqrt", 1.5, 1.5, 100),
      promise<T, floor_function>("floor", 0, 0, 1000),
      promise<T, ceil_function>("ceil", 0, 0, 1000),
      promise<T, round_function>("round", 0, 0, 1000),
      promise<T, pow_function>("pow", 0.6, 1, 50, true),
  };
}

// Zeros, infinities, NaN, denormals, halves, and the edges of ranges, of both signs.
template <class T>
std::vector<T> special_values() {
  using limits = std::numeric_limits<T>;
  std::vector<T> values = {0,
                           limits::denorm_min(),
                           limits::min() / 3,
                           limits::min(),
                           limits::epsilon(),
                           limits::epsilon() / 2,
                           T(0.25),
                           T(0.5),
                           T(0.70710678118654752),
                           T(0.99999994),
                           1,
                           T(1.0000001),
                           T(1.4142135623730951),
                           T(1.5),
                           T(1.5707963267948966),
                           2,
                           T(2.5),
                           3,
                           T(3.1415926535897931),
                           4,
                           9,
                           17,
                           88,
                           T(88.7228394),
                           89,
                           104,
                           709.78271289338397,
                           745,
                           746,
                           T(8388607.5),
                           T(16777216),
                           T(1.6e6),
                           T(1e10),
                           limits::max(),
                           limits::infinity(),
                           limits::quiet_NaN()};
  const std::size_t positive = values.size();
  for (std::size_t i = 0; i < positive; ++i) values.push_back(-values[i]);
  return values;
}

// Special values, then random ones: uniform within the reach, and of uniform bits (all magnitudes alike).
template <class T>
std::vector<T> sample_values(std::size_t count, T reach, unsigned seed) {
  std::vector<T> values = special_values<T>();
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<T> uniform(-reach, reach);
  while (values.size() < count) {
    const std::uint64_t bits = random();
    T any;
    __builtin_memcpy(&any, &bits, sizeof(T));
    values.push_back(std::isnan(any) ? 1 : any);  // a signalling NaN is nobody's promise
    values.push_back(uniform(random));
  }
  return values;
}

// The greatest error over some inputs, and where it is.
template <class T>
struct worst {
  double error = 0;
  T x = 0, x2 = 0;

  void add(double e, T at, T at2) {
    if (e > error) *this = {e, at, at2};
  }
};

// One result for each instruction set of this machine; on top of earlier ones, if there are.
template <class T>
std::vector<worst<T>> measure(const maths_function<T>& f, const std::vector<T>& x, const std::vector<T>& x2,
                              std::vector<worst<T>> result = {}) {
  result.resize(ps::isa::best() + 1);
  std::vector<wide<T>> exact(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) exact[i] = f.exact(x[i], x2[i]);
  std::vector<T> y(x.size());
  for (std::size_t isa = 0; isa < result.size(); ++isa) {
    f.run[static_cast<int>(isa)](x.data(), x2.data(), y.data(), static_cast<int>(x.size()));
    for (std::size_t i = 0; i < x.size(); ++i) {
      const T rounded = static_cast<T>(exact[i]);
      const bool perfect = std::memcmp(&y[i], &rounded, sizeof(T)) == 0;
      if (perfect && result[isa].error >= 0.5) continue;  // it cannot be worse than that
      result[isa].add(ulp_error<T>(y[i], exact[i]), x[i], x2[i]);
    }
  }
  return result;
}

}  // namespace pinion_test
