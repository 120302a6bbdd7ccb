// Small formulas over scalars, as one node each: learning rates and the like, computed once a step.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <utility>

#include <pinion/base/config.hpp>
#include <pinion/op/build.hpp>
#include <pinion/op/map/op.hpp>
#include <pinion/scalar/symbol.hpp>
#include <pinion/train/scalar_value.hpp>

namespace pinion::inline v0::train {

// What a formula is written over: + - * / min max pow sqrt exp cos floor ceil, comparisons, select.
using formula_value = scalar::symbol<scalar::program>;

// The value as a node of another dtype: itself where it is of that one.
any_expr as_dtype(const any_expr& x, dtype type, source_location where = {});

// One node NAME that computes formula(operands), an array of values, in double. Numbers among the operands are part of
// it. No kernel is instantiated: it is interpreted, which for one element costs about as much as to run a node.
template <std::size_t N, class Formula>
any_expr formula_node(graph& g, const std::string& name, const std::array<scalar_value, N>& operands, Formula formula,
                      source_location where = {}) {
  auto program = std::make_shared<scalar::program>();
  program->arithmetic = dtype::float64;
  node_request request{.op = op::custom_map::name, .base_name = name, .where = where};
  std::array<formula_value, N> values{};
  for (std::size_t i = 0; i < N; ++i) {
    values[i].p = program.get();
    if (operands[i].is_number()) {
      values[i].id = program->emit_literal(operands[i].number());
    } else {
      if (&operands[i].expression().owner() != &g)
        throw error(errc::invalid_argument,
                    "'" + operands[i].expression().name() + "' belongs to another graph than '" + name + "'")
            .at_node(operands[i].expression().name(), operands[i].expression().op(),
                     to_string(operands[i].expression().node().where));
      request.inputs.push_back(as_dtype(operands[i].expression(), dtype::float64, where).endpoint());
      values[i].id = program->emit_input(false);
    }
  }
  program->results.push_back({formula(values).id, dtype::float64});
  request.attrs.set("program", op::shared_program(std::move(program)));
  return {g, {build(g, std::move(request)), 0}};
}

}  // namespace pinion::inline v0::train

#if PINION_HEADER_ONLY
#include <pinion/train/formula.ipp>
#endif
