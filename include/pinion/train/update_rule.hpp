// Update rules: what an optimizer does to one element of a variable and its slots, written once over symbolic values.
//
//   struct rule {
//     static constexpr int states = 2, numbers = 1;   // the variable and its slots; rates and the like
//     template <class V>
//     static constexpr std::array<V, 2> apply(const std::array<V, 3>& in, const std::array<V, 1>& rate);
//   };                                                // in: the states, then the gradient; returns the new states
#pragma once

#include <array>

#include <pinion/dsl/program.hpp>

namespace pinion::inline v0::train {

// The program of a rule. Numbers are its literals, so that one kernel serves all rates.
template <class Rule, class Program>
constexpr Program record_rule(dtype arithmetic, const std::array<double, Rule::numbers>& numbers) {
  using value = scalar::symbol<Program>;
  Program p;
  p.arithmetic = arithmetic;
  std::array<value, Rule::states + 1> in{};
  for (auto& x : in) x = {&p, p.emit_input(false)};
  std::array<value, Rule::numbers> literals{};
  for (int i = 0; i < Rule::numbers; ++i) literals[i] = {&p, p.emit_literal(numbers[i])};
  for (const value& y : Rule::apply(in, literals)) p.results.push_back({y.id, arithmetic});
  return p;
}

// The same at run time: recorded by the compiler, then given its numbers.
template <class Rule>
scalar::program rule_program(dtype arithmetic, const std::array<double, Rule::numbers>& numbers) {
  static constexpr auto recorded = record_rule<Rule, dsl::static_program>(dtype::float32, {});
  auto p = scalar::convert_program<scalar::program>(recorded);
  p.arithmetic = arithmetic;
  for (auto& r : p.results) r.type = arithmetic;
  for (std::size_t i = 0; i < numbers.size(); ++i) p.literals[i] = numbers[i];
  return p;
}

// A rule as a program type, of which a kernel is made.
template <class Rule, class T>
struct compiled_rule {
  using arithmetic = T;
  template <std::size_t>
  using result = T;
  static constexpr auto executable = scalar::executable(record_rule<Rule, dsl::static_program>(dtype_of<T>, {}));
};

}  // namespace pinion::inline v0::train
