// The elementwise formulas of optimizers whose update needs more than the elements of one place, such as norms. They
// are types, so that the library holds their kernels, in float and in double.
//
// A formula has `inputs`, which are outputs of the graph that broadcast, and `numbers`, which are literals. `apply` is
// written over symbolic values; at most one operand of an operator may be a computed one: see scalar/functors.hpp.
#pragma once

#include <array>
#include <cstddef>

#include <pinion/base/type_list.hpp>
#include <pinion/scalar/program.hpp>
#include <pinion/scalar/symbol.hpp>

namespace pinion { inline namespace v0 { namespace train { namespace steps {

// m c1 / (sqrt(v c2) + epsilon) + decay w. You et al. 2020. Inputs: w, m, v, c1, c2. Numbers: epsilon, decay.
struct lamb_direction {
  static constexpr std::size_t inputs = 5, numbers = 2;
  template <class V>
  static constexpr V apply(const std::array<V, 5>& in, const std::array<V, 2>& number) {
    const V mean = in[1] * in[3];
    const V square = in[2] * in[4];
    const V root = sqrt(square);
    const V divisor = root + number[0];
    const V pull = in[0] * number[1];
    const V step = mean / divisor;
    return step + pull;
  }
};

// rate |w| / |u|, and the rate alone where either norm is 0. Inputs: rate, |w|^2, |u|^2.
struct trust_rate {
  static constexpr std::size_t inputs = 3, numbers = 0;
  template <class V>
  static constexpr V apply(const std::array<V, 3>& in, const std::array<V, 0>&) {
    const V weights = sqrt(in[1]);
    const V step = sqrt(in[2]);
    const V ratio = weights / step;
    const V trusted = select(in[1] > 0.0, ratio, 1.0);
    const V safe = select(in[2] > 0.0, trusted, 1.0);
    return safe * in[0];
  }
};

// g^2 + epsilon. Shazeer and Stern 2018, as the other formulas of Adafactor. Numbers: epsilon.
struct regulated_square {
  static constexpr std::size_t inputs = 1, numbers = 1;
  template <class V>
  static constexpr V apply(const std::array<V, 1>& in, const std::array<V, 1>& number) {
    const V square = in[0] * in[0];
    return square + number[0];
  }
};

// 1 / sqrt(r / mean). Inputs: r, mean.
struct root_of_part {
  static constexpr std::size_t inputs = 2, numbers = 0;
  template <class V>
  static constexpr V apply(const std::array<V, 2>& in, const std::array<V, 0>&) {
    const V part = in[0] / in[1];
    return rsqrt(part);
  }
};

// g row / sqrt(c). Inputs: g, row, c.
struct factored_direction {
  static constexpr std::size_t inputs = 3, numbers = 0;
  template <class V>
  static constexpr V apply(const std::array<V, 3>& in, const std::array<V, 0>&) {
    const V scaled = in[0] * in[1];
    const V column = rsqrt(in[2]);
    return scaled * column;
  }
};

// g / sqrt(v). Inputs: g, v.
struct over_root {
  static constexpr std::size_t inputs = 2, numbers = 0;
  template <class V>
  static constexpr V apply(const std::array<V, 2>& in, const std::array<V, 0>&) {
    const V root = sqrt(in[1]);
    return in[0] / root;
  }
};

// rate / max(1, rms(u) / threshold). Inputs: rate, rms(u)^2. Numbers: threshold.
struct clipped_rate {
  static constexpr std::size_t inputs = 2, numbers = 1;
  template <class V>
  static constexpr V apply(const std::array<V, 2>& in, const std::array<V, 1>& number) {
    const V root = sqrt(in[1]);
    const V size = max(root / number[0], 1.0);
    return in[0] / size;
  }
};

// clipped_rate, times max(epsilon, rms(w)). Inputs: rate, rms(u)^2, rms(w)^2. Numbers: threshold, epsilon.
struct relative_rate {
  static constexpr std::size_t inputs = 3, numbers = 2;
  template <class V>
  static constexpr V apply(const std::array<V, 3>& in, const std::array<V, 2>& number) {
    const V root = sqrt(in[1]);
    const V size = max(root / number[0], 1.0);
    const V weights = sqrt(in[2]);
    const V scale = max(weights, number[1]);
    const V rate = scale * in[0];
    return rate / size;
  }
};

// x + (y - x) part. Numbers: part.
struct toward {
  static constexpr std::size_t inputs = 2, numbers = 1;
  template <class V>
  static constexpr V apply(const std::array<V, 2>& in, const std::array<V, 1>& number) {
    const V way = in[1] - in[0];
    return in[0] + way * number[0];
  }
};

// x / (sqrt(s) + epsilon). Inputs: x, s. Numbers: epsilon.
struct over_norm {
  static constexpr std::size_t inputs = 2, numbers = 1;
  template <class V>
  static constexpr V apply(const std::array<V, 2>& in, const std::array<V, 1>& number) {
    const V root = sqrt(in[1]);
    const V norm = root + number[0];
    return in[0] / norm;
  }
};

// a x + b y. Inputs: x, y. Numbers: a, b.
struct combination {
  static constexpr std::size_t inputs = 2, numbers = 2;
  template <class V>
  static constexpr V apply(const std::array<V, 2>& in, const std::array<V, 2>& number) {
    const V left = in[0] * number[0];
    return left + in[1] * number[1];
  }
};

using all = type_list<lamb_direction, trust_rate, regulated_square, root_of_part, factored_direction, over_root,
                      clipped_rate, relative_rate, toward, over_norm, combination>;

template <class Formula, class Program>
constexpr Program record(dtype arithmetic) {
  using value = scalar::symbol<Program>;
  Program p;
  p.arithmetic = arithmetic;
  std::array<value, Formula::inputs> in{};
  for (auto& x : in) x = {&p, p.emit_input(false)};
  std::array<value, Formula::numbers> numbers{};
  for (auto& x : numbers) x = {&p, p.emit_literal(0)};
  p.results.push_back({Formula::apply(in, numbers).id, arithmetic});
  return p;
}

// A formula as a program type, of which a kernel is made. Only the compiler records it, as for all programs.
template <class Formula, class T>
struct compiled_step {
  using arithmetic = T;
  template <std::size_t>
  using result = T;
  static constexpr auto recorded = record<Formula, scalar::fixed_program<32>>(dtype_of<T>);
  static_assert(recorded.fits());
  static constexpr auto executable = scalar::executable(recorded);
};

}}}}  // namespace pinion::v0::train::steps
