// Bodies of <pinion/graph/body.hpp>.
#pragma once

#include <pinion/graph/body.hpp>

namespace pinion { inline namespace v0 {

PINION_DECL std::shared_ptr<body> copy_of(const body& from) {
  auto copy = std::make_shared<body>();
  const graph_view g = from.view();
  for (node_id id = 0; id < g.size(); ++id) {
    if (!g.contains(id)) {
      copy->graph.adopt(std::nullopt);
      continue;
    }
    node n = g[id];
    n.scope = nullptr;
    n.control_inputs.clear();
    copy->graph.adopt(std::move(n));
  }
  copy->arguments = from.arguments;
  copy->results = from.results;
  copy->targets = from.targets;
  return copy;
}

}}  // namespace pinion::v0
