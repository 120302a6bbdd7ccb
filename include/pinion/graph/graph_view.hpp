// A view of a graph: its nodes with their final names and devices, for code that reads.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/graph/graph.hpp>

namespace pinion { inline namespace v0 {

// A value, as small as a pointer and an id, which a function that reads a graph takes in place of the graph. It shows
// the nodes that the graph had when the view was made, and refers to the graph, which must outlive it. Reading neither
// settles nor locks. Nodes that are made later are not in it, and a node that a later one absorbs is gone from it. Any
// number of threads may read views of a graph that nobody is building.
class graph_view {
 public:
  // Settles the graph, so that its nodes are final. Throws the first fault of a policy that was asked since the graph
  // was settled before. In a view that a policy makes while it is asked, later nodes are not settled yet.
  graph_view(graph& g);
  // A view of a graph that is finished. Throws internal if a node of it is not settled.
  static graph_view of_settled(const graph& g);

  const graph& owner() const { return *graph_; }
  // Nodes by id; see graph. Requires, for operator[] and type_of: the node is one of the view.
  node_id size() const { return size_; }
  bool contains(node_id id) const { return id < size_ && graph_->contains(id); }
  const node& operator[](node_id id) const { return graph_->peek(id); }
  const output_type& type_of(output o) const { return graph_->type_of(o); }
  // A node by its name, or its id; nullopt and no_node where the view has none of that name.
  std::optional<node_view> find(std::string_view name) const;
  node_id id_of(std::string_view name) const;

  // Facts about the whole graph, as they stand when they are asked for.
  const std::vector<node_id>& collection(const std::string& name) const { return graph_->collection(name); }
  const std::vector<std::shared_ptr<const guard_use>>& policies() const { return graph_->policies(); }
  std::vector<std::shared_ptr<const guard_use>> guards() const { return graph_->guards(); }
  const std::vector<std::pair<std::string, std::string>>& renamed() const { return graph_->renamed(); }
  std::uint64_t changes() const { return graph_->changes(); }

 private:
  graph_view(const graph& of, node_id size) : graph_(&of), size_(size) {}

  const graph* graph_;
  node_id size_ = 0;
};

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/graph/graph_view.ipp>
#endif
