// The formulas of learning rates as types, so that the library holds their kernels: in double, one number a step.
//
// A formula has `operands`, of which the first is the rate and the next `expressions` are expressions of the graph; the
// others are numbers. `apply` is written over symbolic values; at most one operand of an operator may be a computed
// one: see scalar/functors.hpp.
#pragma once

#include <array>
#include <cstddef>

#include <pinion/base/type_list.hpp>
#include <pinion/scalar/program.hpp>
#include <pinion/scalar/symbol.hpp>

namespace pinion { inline namespace v0 { namespace train { namespace rates {

// The number of periods that have passed.
template <bool Stairs, class V>
constexpr V periods(V step, V steps_of_one) {
  const V passed = step / steps_of_one;
  if constexpr (Stairs)
    return floor(passed);
  else
    return passed;
}

// rate factor^(step / steps). Operands: rate, step, factor, steps.
template <bool Stairs>
struct exponential_decay {
  static constexpr std::size_t operands = 4, expressions = 1;
  template <class V>
  static constexpr V apply(const std::array<V, 4>& x) {
    const V factor = pow(x[2], periods<Stairs>(x[1], x[3]));
    return x[0] * factor;
  }
};

// rate e^(exponent step / steps). Operands: rate, step, exponent, steps.
template <bool Stairs>
struct natural_exp_decay {
  static constexpr std::size_t operands = 4, expressions = 1;
  template <class V>
  static constexpr V apply(const std::array<V, 4>& x) {
    const V factor = exp(x[2] * periods<Stairs>(x[1], x[3]));
    return x[0] * factor;
  }
};

// rate / (1 + strength step / steps). Operands: rate, step, strength, steps.
template <bool Stairs>
struct inverse_time_decay {
  static constexpr std::size_t operands = 4, expressions = 1;
  template <class V>
  static constexpr V apply(const std::array<V, 4>& x) {
    const V divisor = 1.0 + x[2] * periods<Stairs>(x[1], x[3]);
    return x[0] / divisor;
  }
};

// (rate - end) (1 - min(step / steps, 1))^power + end. Operands: rate, step, steps, end, power.
template <bool Cycle>
struct polynomial_decay {
  static constexpr std::size_t operands = 5, expressions = 1;
  template <class V>
  static constexpr V apply(const std::array<V, 5>& x) {
    const V left = 1.0 - part(x[1] / x[2]);
    const V span = x[0] - x[3];
    const V shape = pow(left, x[4]);
    const V above = span * shape;
    return above + x[3];
  }

 private:
  template <class V>
  static constexpr V part(V passed) {
    if constexpr (Cycle) {
      const V cycles = max(ceil(passed), 1.0);
      return passed / cycles;
    } else {
      return min(passed, 1.0);
    }
  }
};

// rate (height (1 + cos(pi min(step / steps, 1))) + last). Operands: rate, step, steps, height, last.
struct cosine_decay {
  static constexpr std::size_t operands = 5, expressions = 1;
  template <class V>
  static constexpr V apply(const std::array<V, 5>& x) {
    const V angle = 3.14159265358979323846 * min(x[1] / x[2], 1.0);
    const V wave = 1.0 + cos(angle);
    const V factor = x[3] * wave + x[4];
    return x[0] * factor;
  }
};

// rate (start + rise min(step / steps, 1)). Operands: rate, step, steps, start, rise.
struct linear_warmup {
  static constexpr std::size_t operands = 5, expressions = 1;
  template <class V>
  static constexpr V apply(const std::array<V, 5>& x) {
    const V part = min(x[1] / x[2], 1.0);
    const V factor = x[3] + x[4] * part;
    return x[0] * factor;
  }
};

// The number of the first interval that ends at the step or behind it; the rate behind all of them. Operands: rate,
// step, and the end and the number of each interval.
template <std::size_t Intervals>
struct piecewise_constant {
  static constexpr std::size_t operands = 2 + 2 * Intervals, expressions = 1;
  template <class V>
  static constexpr V apply(const std::array<V, operands>& x) {
    V value = x[0];
    for (std::size_t i = Intervals; i-- > 0;) value = select(x[1] <= x[2 + 2 * i], x[3 + 2 * i], value);
    return value;
  }
};

// rate sqrt(1 - beta2^t) / (1 - beta1^t). Operands: rate, beta1^t, beta2^t.
struct adam {
  static constexpr std::size_t operands = 3, expressions = 2;
  template <class V>
  static constexpr V apply(const std::array<V, 3>& x) {
    const V root = sqrt(1.0 - x[2]);
    const V divisor = 1.0 - x[1];
    const V correction = root / divisor;
    return x[0] * correction;
  }
};

// rate / (1 - power). Operands: rate, power.
struct corrected {
  static constexpr std::size_t operands = 2, expressions = 1;
  template <class V>
  static constexpr V apply(const std::array<V, 2>& x) {
    const V divisor = 1.0 - x[1];
    return x[0] / divisor;
  }
};

// rate step^exponent. Operands: rate, step, exponent.
struct power_of_step {
  static constexpr std::size_t operands = 3, expressions = 1;
  template <class V>
  static constexpr V apply(const std::array<V, 3>& x) {
    const V power = pow(x[1], x[2]);
    return x[0] * power;
  }
};

// min(rate, 1 / sqrt(step)). Operands: rate, step.
struct inverse_root {
  static constexpr std::size_t operands = 2, expressions = 1;
  template <class V>
  static constexpr V apply(const std::array<V, 2>& x) {
    const V falling = rsqrt(x[1]);
    return min(x[0], falling);
  }
};

// 1 - min(rate, (1 + n) / (10 + n)): the part of a new value in a moving average, after n updates. Operands: rate, n.
struct part_of_new {
  static constexpr std::size_t operands = 2, expressions = 1;
  template <class V>
  static constexpr V apply(const std::array<V, 2>& x) {
    const V above = 1.0 + x[1];
    const V below = 10.0 + x[1];
    const V ratio = above / below;
    return 1.0 - min(x[0], ratio);
  }
};

using all =
    type_list<exponential_decay<false>, exponential_decay<true>, natural_exp_decay<false>, natural_exp_decay<true>,
              inverse_time_decay<false>, inverse_time_decay<true>, polynomial_decay<false>, polynomial_decay<true>,
              cosine_decay, linear_warmup, piecewise_constant<4>, piecewise_constant<20>, adam, corrected,
              power_of_step, inverse_root, part_of_new>;

// The program of a formula. The rate is an input or a literal.
template <class Formula, class Program>
constexpr Program record(bool rate_is_input) {
  using value = scalar::symbol<Program>;
  Program p;
  p.arithmetic = dtype::float64;
  std::array<value, Formula::operands> x{};
  for (std::size_t i = 0; i < x.size(); ++i) {
    const bool is_input = i == 0 ? rate_is_input : i <= Formula::expressions;
    x[i] = {&p, is_input ? p.emit_input(false) : p.emit_literal(0)};
  }
  p.results.push_back({Formula::apply(x).id, dtype::float64});
  return p;
}

// A formula as a program type, of which a kernel is made. Only the compiler records it, as for all programs.
template <class Formula, bool RateIsInput>
struct compiled_rate {
  using arithmetic = double;
  template <std::size_t>
  using result = double;
  static constexpr auto recorded = record<Formula, scalar::fixed_program<128>>(RateIsInput);
  static_assert(recorded.fits());
  static constexpr auto executable = scalar::executable(recorded);
};

}}}}  // namespace pinion::v0::train::rates
