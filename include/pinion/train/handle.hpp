// Makes a variable's handle from its node.
#pragma once

#include <pinion/base/dtype.hpp>
#include <pinion/op/variable/variable.hpp>

namespace pinion { inline namespace v0 { namespace train {

// The handle of the variable v, which the graph knows. Requires: v is of element type T. Throws not_found, as
// variable_of does, if v was not made by variable(). It serves code that finds variables by a collection:
// g.collection("trainable_variables").
template <element T>
variable_handle<T> handle_of(graph& g, node_id v) {
  return variable_handle<T>(variable_of(g, v));
}

}}}  // namespace pinion::v0::train
