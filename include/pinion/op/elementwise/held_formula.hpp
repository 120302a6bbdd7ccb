// Elementwise nodes of gradients whose formulas are types, so that the library holds their kernels.
#pragma once

#include <array>
#include <cstddef>
#include <memory>

#include <pinion/opkit/gradient_context.hpp>
#include <pinion/scalar/formulas.hpp>
#include <pinion/scalar/program.hpp>
#include <pinion/scalar/symbol.hpp>

namespace pinion { inline namespace v0 { namespace op {

namespace formula = scalar::formula;

namespace detail {

// The number of a formula's operands.
template <class V, std::size_t N>
constexpr std::size_t operands_of(V (*)(const std::array<V, N>&)) {
  return N;
}

template <class Formula, class Program>
constexpr Program record_formula(dtype arithmetic) {
  using value = scalar::symbol<Program>;
  Program p;
  p.arithmetic = arithmetic;
  std::array<value, operands_of(&Formula::template apply<value>)> in{};
  for (auto& x : in) x = {&p, p.emit_input(false)};
  p.results.push_back({Formula::apply(in).id, arithmetic});
  return p;
}

}  // namespace detail

// A formula as a program type, of which a kernel is made. Only the compiler records it, as for all programs.
template <class Formula, class T>
struct compiled_formula {
  using arithmetic = T;
  template <std::size_t>
  using result = T;
  static constexpr auto recorded = detail::record_formula<Formula, scalar::fixed_program<16>>(dtype_of<T>);
  static_assert(recorded.fits());
  static constexpr auto executable = scalar::executable(recorded);
};

// Makes one node, called by Op, the last op of the formula, that computes a formula of outputs of one floating dtype,
// which broadcast.
template <class Op, class Formula, class... Output>
output elementwise(gradient_context& g, output first, Output... others) {
  auto program = std::make_shared<scalar::program>(
      scalar::convert_program<scalar::program>(compiled_formula<Formula, double>::recorded));
  program->arithmetic = program->results[0].type = g.type_of(first).dtype;
  return g.make(Op::name, {first, others...}, {{"program", std::shared_ptr<const scalar::program>(program)}});
}

}}}  // namespace pinion::v0::op
