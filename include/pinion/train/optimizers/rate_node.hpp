// The node of a learning rate's formula.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <pinion/train/formula.hpp>
#include <pinion/train/optimizers/rates.hpp>

namespace pinion { inline namespace v0 { namespace train { namespace detail {

// Builds one node NAME that computes Formula(operands) in double. Its kernel is the library's. Throws invalid_argument
// for an operand of another graph. Requires: there are as many operands as the formula has.
template <class Formula>
any_expr rate_node(graph& g, const std::string& name, const std::vector<scalar_value>& operands,
                   source_location where = {}) {
  using fixed = rates::compiled_rate<Formula, false>;
  using varying = rates::compiled_rate<Formula, true>;
  auto program =
      scalar::convert_program<scalar::program>(operands[0].is_number() ? fixed::recorded : varying::recorded);
  return formula_node(g, name, std::move(program), operands, where);
}

}}}}  // namespace pinion::v0::train::detail
