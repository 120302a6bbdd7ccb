// The values of a graph that its gradients compute again, since pn::recompute marked their nodes.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include <pinion/autodiff/remake.hpp>
#include <pinion/base/config.hpp>
#include <pinion/graph/graph_view.hpp>

namespace pinion { inline namespace v0 { namespace autodiff {

// Adds copies of marked nodes to their own graph, for one walk of a gradient, and notes them in the graph's marks. Used
// by one thread; refers to the graph.
class values_again {
 public:
  // `forward` shows the nodes that may be copied.
  values_again(graph& g, graph_view forward);

  // The part of a node, and whether it is computed again; see remaker.
  int part_of(node_id id) const { return copies_ ? copies_->part_of(id) : -1; }
  bool remakes(node_id id) const { return copies_ && copies_->remakes(id); }
  // Is it known what the copies of a part wait for?
  bool waits(int part) const { return waits_for_.contains(part); }
  void wait(int part, std::vector<node_id> before) { waits_for_[part] = std::move(before); }
  // The copy of a node. Requires: its part waits, and it is computed again.
  node_id copy_of(node_id id);

 private:
  graph& g_;
  std::unique_ptr<remaker> copies_;  // null: nothing is marked
  std::map<int, std::vector<node_id>> waits_for_;
};

}}}  // namespace pinion::v0::autodiff

#if PINION_HEADER_ONLY
#include <pinion/autodiff/values_again.ipp>
#endif
