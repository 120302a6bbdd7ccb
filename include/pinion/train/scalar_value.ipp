// Bodies of <pinion/train/scalar_value.hpp>.
#pragma once

#include <pinion/train/scalar_value.hpp>

namespace pinion { inline namespace v0 { namespace train {

PINION_DECL scalar_value::scalar_value(const any_expr& e) : number_or_expression(e) {
  if (!fits(e.shape(), {}))
    throw error(errc::invalid_argument,
                "'" + e.name() + "' of shape " + to_string(e.shape()) + " is given where a scalar is wanted")
        .at_node(e.name(), e.op(), to_string(e.node().where));
}

}}}  // namespace pinion::v0::train
