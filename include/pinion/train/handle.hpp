// From the node of a variable back to its handle.
#pragma once

#include <pinion/base/dtype.hpp>
#include <pinion/dsl/expr.hpp>

namespace pinion { inline namespace v0 { namespace train {

// Requires: v is a VariableV2 node of g, made by variable(), of element type T.
template <element T>
variable_handle<T> handle_of(graph& g, node_id v) {
  const std::string& name = g[v].name;
  return {g, v, g.id_of(name + "/Assign"), g.id_of(name + "/read")};
}

}}}  // namespace pinion::v0::train
