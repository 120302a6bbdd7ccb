// From the node of a variable back to its handle.
#pragma once

#include <pinion/base/dtype.hpp>
#include <pinion/op/variable/variable.hpp>

namespace pinion { inline namespace v0 { namespace train {

// Requires: v is of element type T. Throws as variable_of.
template <element T>
variable_handle<T> handle_of(graph& g, node_id v) {
  return variable_handle<T>(variable_of(g, v));
}

}}}  // namespace pinion::v0::train
