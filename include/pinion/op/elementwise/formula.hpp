// Elementwise nodes of gradients, written as formulas: elementwise<multiply>(g, [](auto x, auto y) { … }, a, b).
#pragma once

#include <memory>
#include <tuple>

#include <pinion/op/elementwise/op.hpp>
#include <pinion/opkit/gradient_context.hpp>
#include <pinion/scalar/program.hpp>
#include <pinion/scalar/symbol.hpp>

namespace pinion { inline namespace v0 { namespace op {

// Makes one node that computes a formula of outputs of one floating dtype, which broadcast. The node is one of `Op`,
// the last op of the formula.
template <class Op, class Formula, class... Output>
output elementwise(gradient_context& g, Formula formula, Output... inputs) {
  auto program = std::make_shared<scalar::program>();
  program->arithmetic = g.type_of(std::get<0>(std::tie(inputs...))).dtype;
  using value = scalar::symbol<scalar::program>;
  const std::tuple values{((void)inputs, value{program.get(), program->emit_input(false)})...};
  program->results.push_back({std::apply(formula, values).id, program->arithmetic});
  return g.make(Op::name, {inputs...}, {{"program", std::shared_ptr<const scalar::program>(program)}});
}

// Makes nodes of one operation each. The library has their kernels, so they serve gradients of which it holds no
// program.
inline output plus(gradient_context& g, output a, output b) {
  return elementwise<add>(
      g, [](auto x, auto y) { return x + y; }, a, b);
}
inline output minus(gradient_context& g, output a, output b) {
  return elementwise<subtract>(
      g, [](auto x, auto y) { return x - y; }, a, b);
}
inline output times(gradient_context& g, output a, output b) {
  return elementwise<multiply>(
      g, [](auto x, auto y) { return x * y; }, a, b);
}
inline output over(gradient_context& g, output a, output b) {
  return elementwise<divide>(
      g, [](auto x, auto y) { return x / y; }, a, b);
}

// Makes a node of the sum of x over the axes along which `like` broadcasts to it, in the shape of `like`.
inline output sum_like(gradient_context& g, output like, output x) {
  auto program = std::make_shared<scalar::program>();
  program->arithmetic = g.type_of(x).dtype;
  program->emit_input(false);
  program->results.push_back({program->emit_input(false), program->arithmetic});
  return g.make(map_gradient::name, {like, x}, {{"program", std::shared_ptr<const scalar::program>(program)}});
}

}}}  // namespace pinion::v0::op
