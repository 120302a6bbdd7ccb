// Small formulas over scalars, as one node each: learning rates and the like, computed once a step.
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

// What a formula is written over: + - * / min max pow sqrt exp cos floor ceil, comparisons, select.
using formula_value = scalar::symbol<scalar::program>;

// The value as a node of another dtype: itself where it is of that one.
any_expr as_dtype(const any_expr& x, dtype type, source_location where = {});

// A formula in the making: its program, and the node that is to compute it.
class formula_builder {
 public:
  formula_builder(graph& g, const std::string& name, source_location where);
  // An operand of the program. Throws invalid_argument for an expression of another graph.
  formula_value operand(const scalar_value& value);
  // The node, whose value is that one.
  any_expr finish(const formula_value& result);

 private:
  graph& g_;
  std::shared_ptr<scalar::program> program_;
  node_request request_;
};

// One node NAME that computes formula(operands), an array of values, in double. Numbers among the operands are part of
// it. No kernel is instantiated: it is interpreted, which for one element costs about as much as to run a node.
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
