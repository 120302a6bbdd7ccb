// Update rules: the effect of an optimizer on one element of a variable and its slots, written over symbolic values.
//
//   struct rule {
//     static constexpr int states = 2, numbers = 2;   // the variable and its slots; the learning rate, and others
//     template <class V>
//     static constexpr std::array<V, 2> apply(const std::array<V, 3>& in, const std::array<V, 2>& number);
//   };                                                // in: the states, then the gradient; returns the new states
//
// At most one operand of an operator may be a computed value: see scalar/functors.hpp.
//
// The rule of stochastic gradient descent, w -= rate g, as an example:
//
//   struct descent {
//     static constexpr int states = 1, numbers = 1;
//     template <class V>
//     static constexpr std::array<V, 1> apply(const std::array<V, 2>& in, const std::array<V, 1>& number) {
//       return {in[0] - in[1] * number[0]};
//     }
//   };
//
// One kernel then reads and writes each element once, atomically for the variable and all its slots; the same program
// updates the rows of a sparse gradient.
#pragma once

#include <array>
#include <cstddef>

#include <pinion/scalar/compiled.hpp>
#include <pinion/scalar/program.hpp>
#include <pinion/scalar/symbol.hpp>
#if PINION_CUDA_KERNELS
#include <pinion/op/elementwise/cuda_ahead.cuh>
#endif

namespace pinion { inline namespace v0 { namespace op {

// The form of a rule's first number, the rate: a literal of its program, or an input after the gradient. The other
// numbers are literals, so that one kernel serves all their values. A literal saves an input where the rate is a plain
// number; a schedule is an input. A rule whose first numbers are several rates says how many, `rates = 2`: they are all
// literals, or all inputs.
enum class rate_is { literal, input };

// How many of a rule's first numbers are rates.
template <class Rule>
constexpr std::size_t rates_of() {
  if constexpr (requires { Rule::rates; })
    return Rule::rates;
  else
    return 1;
}

// The program of a rule, with 0 for its literals. Requires: apply() uses the operators and functions of
// scalar/symbol.hpp alone, without branches on values.
template <class Rule, class Program>
constexpr Program record_rule(dtype arithmetic, rate_is rate) {
  using value = scalar::symbol<Program>;
  Program p;
  p.arithmetic = arithmetic;
  std::array<value, Rule::states + 1> in{};
  for (auto& x : in) x = {&p, p.emit_input(false)};
  std::array<value, Rule::numbers> numbers{};
  for (std::size_t i = 0; i < numbers.size(); ++i)
    numbers[i] = {&p, i < rates_of<Rule>() && rate == rate_is::input ? p.emit_input(false) : p.emit_literal(0)};
  for (const value& y : Rule::apply(in, numbers)) p.results.push_back({y.id, arithmetic});
  return p;
}

// A rule as a program type, of which a kernel is made. Only the compiler records it, as for all programs. A rule is
// compiled four times: for float and double, with each form of the rate.
template <class Rule, class T, rate_is Rate>
struct compiled_rule {
  using arithmetic = T;
  template <std::size_t>
  using result = T;
  static constexpr bool is_flat = Rate == rate_is::literal;  // an input of one number stays along a strip
  static constexpr auto recorded = record_rule<Rule, scalar::fixed_program<64>>(dtype_of<T>, Rate);
  static_assert(recorded.fits(), "an update rule has at most 64 instructions, and 48 numbers");
  static constexpr auto executable = scalar::executable(recorded);
};

// The program of a rule at run time, for any floating dtype, with its numbers. Where the rates are inputs, their
// numbers are not used. Requires: the dtype is float or double.
template <class Rule, rate_is Rate>
scalar::program rule_program(dtype arithmetic, const std::array<double, Rule::numbers>& numbers) {
  auto p = scalar::convert_program<scalar::program>(compiled_rule<Rule, float, Rate>::recorded);
  p.arithmetic = arithmetic;
  for (auto& r : p.results) r.type = arithmetic;
  const std::size_t first = Rate == rate_is::input ? rates_of<Rule>() : 0;
  for (std::size_t i = 0; i < p.literals.size(); ++i) p.literals[i] = numbers[i + first];
  return p;
}

// True for a rule whose rate changes from step to step, so that it is never a literal.
template <class Rule>
inline constexpr bool rate_varies = requires {
  Rule::rate_varies;
};

// Calls f.template operator()<P>() for each program type of a rule that has kernels.
template <class Rule, class F>
constexpr void for_each_program_of(F&& f) {
  const auto with = [&]<rate_is Rate>() {
    f.template operator()<compiled_rule<Rule, float, Rate>>();
    f.template operator()<compiled_rule<Rule, double, Rate>>();
  };
  with.template operator()<rate_is::input>();
  if constexpr (!rate_varies<Rule>) with.template operator()<rate_is::literal>();
}

// Puts the kernels of a rule into this binary, if the unit is optimized, unless pinion::compiled holds them. Elsewhere
// the rule's program is interpreted. A unit of pinion_cuda_sources gives it kernels for GPUs, too.
template <class Rule, bool IsHeld = false>
void instantiate_rule() {
  if constexpr (scalar::compiles_kernels && !IsHeld)
    for_each_program_of<Rule>([]<class P>() { (void)scalar::compile_program<P>::kernel; });
#if PINION_CUDA_KERNELS
  for_each_program_of<Rule>([]<class P>() { compile_ahead<P>::keep(); });
#endif
}

}}}  // namespace pinion::v0::op
