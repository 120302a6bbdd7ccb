// The reference from a handle to its graph, which notices that the graph was destroyed.
#pragma once

#include <memory>
#include <string_view>

#include <pinion/base/config.hpp>
#include <pinion/graph/graph.hpp>

namespace pinion { inline namespace v0 {

// A value of two pointers. Made empty, it refers to no graph.
class graph_ref {
 public:
  graph_ref() = default;
  graph_ref(graph& g) : life_(g.lives()) {}

  bool empty() const { return life_ == nullptr; }
  // The graph; null where the reference is empty or the graph was destroyed.
  graph* get() const { return life_ ? life_->at.load(std::memory_order_acquire) : nullptr; }
  // The graph. Throws invalid_argument where the reference is empty, and failed_precondition where the graph was
  // destroyed, or replaced by reset_default_graph().
  graph& operator*() const;
  graph* operator->() const { return &**this; }
  // The number of a node of the graph, for use in `in`: numbers of nodes mean something else in another graph. Throws
  // invalid_argument, with the line that made the node, where `in` is another graph; `whose` says of whom it is: "the
  // session's". Throws what operator* throws.
  node_id number_in(const graph& in, node_id id, std::string_view whose) const;
  friend bool operator==(const graph_ref&, const graph_ref&) = default;

 private:
  std::shared_ptr<const graph::life> life_;
};

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/graph/graph_ref.ipp>
#endif
