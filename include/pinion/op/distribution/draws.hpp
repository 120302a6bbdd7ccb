// Numbers of the gamma and Poisson distributions, made of uniform ones, in double.
//
// Sources: Marsaglia, Tsang, "A simple method for generating gamma variables", ACM TOMS 26(3), 2000; Hörmann, "The
// transformed rejection method for generating Poisson random variables", Insurance: Mathematics and Economics 12(1),
// 1993, its algorithm PTRS.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>

#include <pinion/base/config.hpp>
#include <pinion/op/random/bits.hpp>

namespace pinion { inline namespace v0 { namespace op { namespace detail { namespace distribution {

// The random bits of one element, which no other element of the execution has: the block of its number, as often as it
// is drawn again. At most 256 pairs. Not thread-safe.
class element_stream {
 public:
  element_stream(const random_stream& from, std::int64_t element) : from_(from), element_(element) {}

  // Two numbers in [0, 1).
  std::array<double, 2> next_pair() {
    const philox_words bits = from_.bits(element_, draw_++);
    return {unit_interval<double>(word<double>(bits, 0)), unit_interval<double>(word<double>(bits, 1))};
  }

 private:
  random_stream from_;
  std::int64_t element_;
  std::uint32_t draw_ = 0;
};

// A standard normal number (Box and Muller 1958). u is in [0, 1).
inline double normal_of(double u, double v) {
  return std::sqrt(-2 * std::log(1 - u)) * std::cos(6.283185307179586 * v);
}

// A gamma variable of alpha >= 1. One attempt in 20 fails; after 120 of them, which never happens, it is the mean.
inline double gamma_from_one_on(double alpha, element_stream& from) {
  const double d = alpha - 1.0 / 3, c = 1 / std::sqrt(9 * d);
  for (int attempt = 0; attempt < 120; ++attempt) {
    const auto [a, b] = from.next_pair();
    const double u = 1 - from.next_pair()[0], x = normal_of(a, b), root = 1 + c * x;
    if (root <= 0) continue;
    const double v = root * root * root;
    if (u < 1 - .0331 * x * x * x * x || std::log(u) < x * x / 2 + d * (1 - v + std::log(v))) return d * v;
  }
  return alpha;
}

// A gamma variable of scale 1. One of alpha < 1 is that of alpha + 1 times u^(1 / alpha).
inline double gamma_of(double alpha, element_stream& from) {
  if (!(alpha >= 0)) return std::numeric_limits<double>::quiet_NaN();
  if (alpha == 0 || std::isinf(alpha)) return alpha;
  if (alpha >= 1) return gamma_from_one_on(alpha, from);
  const double u = 1 - from.next_pair()[0];
  return gamma_from_one_on(alpha + 1, from) * std::exp(std::log(u) / alpha);
}

// The logarithm of the probability of k, a whole number, at this rate. The large terms of Stirling's series cancel
// before they are added up.
inline double log_mass(double k, double rate) {
  if (k < 10) {
    double factorial = 1;
    for (double i = 2; i <= k; ++i) factorial *= i;
    return k * std::log(rate) - rate - std::log(factorial);
  }
  const double off = (rate - k) / k, inverse = 1 / k, square = inverse * inverse;
  const double rest = inverse * (1.0 / 12 - square * (1.0 / 360 - square / 1260));
  return k * (std::log1p(off) - off) - std::log(6.283185307179586 * k) / 2 - rest;
}

// A Poisson variable of a rate from 10 on, by PTRS. Most attempts succeed; after 256 of them it is the mean.
inline double poisson_by_rejection(double rate, element_stream& from) {
  const double b = .931 + 2.53 * std::sqrt(rate), a = -.059 + .02483 * b;
  const double inverse_alpha = 1.1239 + 1.1328 / (b - 3.4), bound = .9277 - 3.6224 / (b - 2);
  for (int attempt = 0; attempt < 256; ++attempt) {
    const auto [unit, v] = from.next_pair();
    const double u = unit - .5, edge = .5 - std::abs(u);
    const double k = std::floor((2 * a / edge + b) * u + rate + .43);
    if (edge >= .07 && v <= bound) return k;
    if (k < 0 || (edge < .013 && v > edge)) continue;
    if (std::log(v * inverse_alpha / (a / (edge * edge) + b)) <= log_mass(k, rate)) return k;
  }
  return std::floor(rate);
}

// A Poisson variable of a small rate: the first k up to which the probabilities exceed a uniform number.
inline double poisson_by_inversion(double rate, double u) {
  double k = 0, mass = std::exp(-rate), sum = mass;
  while (u >= sum && mass > 0) {
    mass *= rate / ++k;
    sum += mass;
  }
  return k;
}

inline double poisson_of(double rate, element_stream& from) {
  if (!(rate >= 0)) return std::numeric_limits<double>::quiet_NaN();
  if (rate == 0 || std::isinf(rate)) return rate;
  return rate < 10 ? poisson_by_inversion(rate, from.next_pair()[0]) : poisson_by_rejection(rate, from);
}

// A whole number as R holds it; the greatest one of R for those beyond.
template <class R>
R as_element(double x) {
  if constexpr (std::numeric_limits<R>::is_integer) {
    constexpr double end = 2.0 * (std::numeric_limits<R>::max() / 2 + 1);
    return x < end ? static_cast<R>(x) : std::numeric_limits<R>::max();
  } else {
    return static_cast<R>(x);
  }
}

}}}}}  // namespace pinion::v0::op::detail::distribution
