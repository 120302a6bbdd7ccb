// A graph with ends: what a node of control flow runs.
#pragma once

#include <memory>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/graph/graph.hpp>

namespace pinion { inline namespace v0 {

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
std::shared_ptr<body> copy_of(const body& from);

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/graph/body.ipp>
#endif
