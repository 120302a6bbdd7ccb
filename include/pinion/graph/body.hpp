// The body of a node of control flow: a graph with arguments and results.
#pragma once

#include <memory>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/graph/graph_view.hpp>

namespace pinion { inline namespace v0 {

// Shared by the attributes of its node and by steps that run it, and never changed once the node is made. An argument
// may be any output of the graph; its producer then does not run.
struct body {
  pinion::graph graph;
  std::vector<output> arguments;
  std::vector<output> results;
  std::vector<node_id> targets;  // nodes that run besides those the results need

  // The nodes of the body. Requires: they are settled.
  graph_view view() const { return graph_view::of_settled(graph); }
};

using shared_body = std::shared_ptr<const body>;

// A copy with the same ids, to be added to. It has no control edges, so nodes that change a state do not run again.
std::shared_ptr<body> copy_of(const body& from);

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/graph/body.ipp>
#endif
