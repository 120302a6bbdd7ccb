// Variables that belong to one task alone, and are not kept: counters of metrics and the like.
#pragma once

#include <pinion/dsl/sources.hpp>

namespace pinion::inline v0 {

// Runs the initialisers of all local variables of the default graph made so far: those made with {.local = true}.
inline operation local_variables_initializer(std::string_view name = "init_local",
                                             source_location where = source_location::current()) {
  graph& g = default_graph();
  node_request request{.op = op::no_op::name, .base_name = std::string(name), .where = where};
  request.control_inputs = g.collection("local_initializers");
  return {g, build(g, std::move(request))};
}

}  // namespace pinion::inline v0
