// Bodies of <pinion/op/variable/slices.hpp>.
#pragma once

#include <map>
#include <utility>

#include <pinion/op/variable/slices.hpp>

namespace pinion { inline namespace v0 {

namespace dsl {
struct variable_slices {
  std::map<node_id, variable_slice> of_variable;
};
}  // namespace dsl

PINION_DECL void note_slice(graph& g, node_id variable, variable_slice slice) {
  g.attached<dsl::variable_slices>().of_variable.insert_or_assign(variable, std::move(slice));
}

PINION_DECL const variable_slice* slice_of(graph& g, node_id variable) {
  const auto& known = g.attached<dsl::variable_slices>().of_variable;
  const auto at = known.find(variable);
  return at == known.end() ? nullptr : &at->second;
}

}}  // namespace pinion::v0
