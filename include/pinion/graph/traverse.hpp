// Walking a graph from its fetches back to its sources.
#pragma once

#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/graph/graph_view.hpp>

namespace pinion { inline namespace v0 {

// The nodes that the fetches and targets need, by data and control edges, ascending by id. The producer of a fed output
// is not needed for it.
std::vector<node_id> ancestors(graph_view g, const std::vector<output>& fetches, const std::vector<node_id>& targets,
                               const std::vector<output>& feeds = {});

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/graph/traverse.ipp>
#endif
