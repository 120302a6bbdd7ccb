// A step that passes rewrote after it was placed, as explain() is told of it.
#pragma once

#include <span>

#include <pinion/graph/graph.hpp>
#include <pinion/opkit/node_fate.hpp>
#include <pinion/placement/placement.hpp>

namespace pinion { inline namespace v0 {

// A view: the placed nodes of a graph of its own, and the fates of the problem's nodes, in their order. Those that run
// or were computed are the placed ones, in the same order.
struct rewritten_step {
  graph_view graph;
  const placement& placed;
  std::span<const node_fate> fates;
};

}}  // namespace pinion::v0
