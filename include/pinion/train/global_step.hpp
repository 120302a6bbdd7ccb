// The number of updates made so far, as a variable of the graph.
#pragma once

#include <pinion/train/handle.hpp>

namespace pinion::inline v0::train {

// The global step of the default graph, int64 and not trainable, made on first use.
inline variable_handle<std::int64_t> get_or_create_global_step(source_location where = source_location::current()) {
  graph& g = default_graph();
  const auto& known = g.collection("global_step");
  if (!known.empty()) return handle_of<std::int64_t>(g, known[0]);
  const auto step = variable(std::int64_t{0}, {.name = "global_step", .trainable = false}, where);
  g.add_to_collection("global_step", step.id());
  return step;
}

}  // namespace pinion::inline v0::train
