// Makes a variable's handle from its node.
#pragma once

#include <pinion/base/dtype.hpp>
#include <pinion/dsl/expr.hpp>

namespace pinion::inline v0::train {

// The handle of the variable v, whose initialiser and read node are found by their names. Requires: v is a VariableV2
// node of g, made by variable(), of element type T.
template <element T>
variable_handle<T> handle_of(graph& g, node_id v) {
  const std::string& name = g[v].name;
  return {g, v, g.id_of(name + "/Assign"), g.id_of(name + "/read")};
}

}  // namespace pinion::inline v0::train
