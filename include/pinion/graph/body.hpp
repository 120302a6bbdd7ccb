// A graph with ends: what a node of control flow runs.
#pragma once

#include <memory>
#include <vector>

#include <pinion/graph/graph.hpp>

namespace pinion::inline v0 {

// Held by the attributes of its node, and never changed once it is there. An argument may be any output: its producer
// then does not run.
struct body {
  pinion::graph graph;
  std::vector<output> arguments;
  std::vector<output> results;
  std::vector<node_id> targets;  // run beside what the results need
};

using shared_body = std::shared_ptr<const body>;

// A copy with the same ids, to be added to. Without control edges: what changes a state is not run again.
inline std::shared_ptr<body> copy_of(const body& from) {
  auto copy = std::make_shared<body>();
  from.graph.settle();
  for (node_id id = 0; id < from.graph.size(); ++id) {
    if (!from.graph.contains(id)) {
      copy->graph.adopt(std::nullopt);
      continue;
    }
    node n = from.graph.peek(id);
    n.scope = nullptr;
    n.control_inputs.clear();
    copy->graph.adopt(std::move(n));
  }
  copy->arguments = from.arguments;
  copy->results = from.results;
  copy->targets = from.targets;
  return copy;
}

}  // namespace pinion::inline v0
