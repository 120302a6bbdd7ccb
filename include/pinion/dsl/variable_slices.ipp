// Bodies of <pinion/dsl/variable_slices.hpp>.
#pragma once

#include <pinion/dsl/variable_slices.hpp>

namespace pinion::inline v0 {

PINION_DECL const variable_slice* slice_of(graph& g, node_id variable) {
  const auto& known = g.attached<dsl::variable_slices>().of_variable;
  const auto at = known.find(variable);
  return at == known.end() ? nullptr : &at->second;
}

}  // namespace pinion::inline v0
