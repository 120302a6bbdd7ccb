// Small formulas over scalars, such as learning rates: each becomes one node that is computed once a step.
#pragma once

#include <array>
#include <memory>
#include <string>

#include <pinion/base/config.hpp>
#include <pinion/op/elementwise/op.hpp>
#include <pinion/opkit/build.hpp>
#include <pinion/scalar/symbol.hpp>
#include <pinion/train/scalar_value.hpp>

namespace pinion { inline namespace v0 { namespace train {

// The type that formulas are written in. It has + - * /, min, max, pow, sqrt, exp, cos, floor, ceil, comparisons and
// select.
using formula_value = scalar::symbol<scalar::program>;

// Casts an expression to a dtype with a Cast node. Returns the expression itself if it has that dtype already.
any_expr as_dtype(const any_expr& x, dtype type, source_location where = {});

// Builds the node of a formula: it collects the operands and records the program that computes it. It refers to the
// graph and is used by one thread, once.
class formula_builder {
 public:
  formula_builder(graph& g, const std::string& name, source_location where);
  // Adds an operand and returns its value in the program; a number becomes a literal, an expression an input, cast to
  // double. Throws invalid_argument for an expression of another graph.
  formula_value operand(const scalar_value& value);
  // Builds the node, whose value is `result`. Requires: it is called once.
  any_expr finish(const formula_value& result);

 private:
  graph& g_;
  std::shared_ptr<scalar::program> program_;
  node_request request_;
};

// Builds one node NAME that computes formula(operands) in double; the formula is called once, with an array of N
// formula_values. Operands that are numbers become literals of the program. The node interprets its program, so no
// kernel is instantiated; for a single element that costs about as much as running any node. Throws invalid_argument
// for an operand of another graph.
template <std::size_t N, class Formula>
any_expr formula_node(graph& g, const std::string& name, const std::array<scalar_value, N>& operands, Formula formula,
                      source_location where = {}) {
  formula_builder builder(g, name, where);
  std::array<formula_value, N> values{};
  for (std::size_t i = 0; i < N; ++i) values[i] = builder.operand(operands[i]);
  return builder.finish(formula(values));
}

}}}  // namespace pinion::v0::train

#if PINION_HEADER_ONLY
#include <pinion/train/formula.ipp>
#endif
