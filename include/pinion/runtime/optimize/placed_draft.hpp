// The draft of a step that was placed, and the step that passes have made of it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/graph/graph_view.hpp>
#include <pinion/opkit/draft.hpp>
#include <pinion/placement/placement.hpp>
#include <pinion/runtime/step/signature.hpp>

namespace pinion { inline namespace v0 { namespace runtime {

// The result of the passes, ready to be cut: a graph of its own, with its own ids. Without a graph, the placed step
// runs as it is.
struct optimized_step {
  std::shared_ptr<const pinion::graph> graph;
  pinion::placement placement;
  step_signature signature;
  std::vector<node_fate> fates = {};  // of the nodes that were placed, in their order

  // The nodes that run: those of its own graph, if it has one, in place of those that were placed.
  graph_view in_place_of(graph_view placed) const { return graph ? graph_view::of_settled(*graph) : placed; }
};

// The draft of a step. Used by one thread; refers to the placement.
class placed_draft final : public draft {
 public:
  placed_draft(graph_view g, const placement& placed, const step_signature& s);

  // The step as it is now. Ends the use of this object.
  optimized_step finished();

 private:
  // For each node the one that runs in its place, or that does its work: itself, another, or no_node.
  std::vector<node_id> find_stand_ins() const;
  node_fate fate_of(node_id i, node_id stand_in) const;

  const placement& placed_;
  std::vector<std::string> feed_devices_;
  const bool check_values_;
};

// Would the node yield equal values again, without side effects?
bool is_repeatable(const draft& d, node_id i);

}}}  // namespace pinion::v0::runtime

#if PINION_HEADER_ONLY
#include <pinion/runtime/optimize/placed_draft.ipp>
#endif
