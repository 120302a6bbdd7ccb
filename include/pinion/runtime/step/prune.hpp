// Finds the part of a graph that a step needs.
#pragma once

#include <vector>

#include <pinion/graph/traverse.hpp>
#include <pinion/runtime/step/signature.hpp>

namespace pinion { inline namespace v0 { namespace runtime {

inline std::vector<node_id> prune(graph_view g, const step_signature& s) {
  return ancestors(g, s.fetches, s.targets, s.feeds);
}

}}}  // namespace pinion::v0::runtime
