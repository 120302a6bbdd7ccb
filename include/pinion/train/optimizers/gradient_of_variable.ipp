// Bodies of <pinion/train/optimizers/gradient_of_variable.hpp>.
#pragma once

#include <pinion/train/optimizers/gradient_of_variable.hpp>

namespace pinion { inline namespace v0 { namespace train {

PINION_DECL void gradient_of_variable::expect_in(const graph& g) const {
  if (!of.empty()) of.number_in(g, variable, "the one in which its gradient is used");
}

PINION_DECL gradient_of_variable gradient_of_variable::with_values(output values) const {
  gradient_of_variable other = *this;
  (gradient.is_sparse() ? other.gradient.rows : other.gradient.dense) = values;
  return other;
}

}}}  // namespace pinion::v0::train
