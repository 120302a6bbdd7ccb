// Bodies of <pinion/dsl/expr.hpp>.
#pragma once

#include <pinion/dsl/expr.hpp>
#include <pinion/op/catalogue.hpp>

namespace pinion::inline v0::dsl {

PINION_DECL void refuse_other_graph(const operation& culprit) {
  throw error(errc::invalid_argument, "'" + culprit.name() + "' belongs to another graph than the other operands")
      .at_node(culprit.name(), culprit.op(), to_string(culprit.node().where));
}

}  // namespace pinion::inline v0::dsl
