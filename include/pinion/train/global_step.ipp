// Bodies of <pinion/train/global_step.hpp>.
#pragma once

#include <pinion/op/source/functions.hpp>
#include <pinion/op/variable/functions.hpp>
#include <pinion/train/global_step.hpp>
#include <pinion/train/handle.hpp>

namespace pinion { inline namespace v0 { namespace train {

PINION_DECL variable_handle<std::int64_t> get_or_create_global_step(source_location where) {
  graph& g = default_graph();
  const auto& known = g.collection("global_step");
  if (!known.empty()) return handle_of<std::int64_t>(g, known[0]);
  const auto step = variable(std::int64_t{0}, {.name = "global_step", .trainable = false}, where);
  g.add_to_collection("global_step", step.id(g));
  return step;
}

}}}  // namespace pinion::v0::train
