// A handle of a node, which a user stores, runs, or makes other nodes wait for.
#pragma once

#include <string>

#include <pinion/graph/graph_ref.hpp>

namespace pinion { inline namespace v0 {

// A value, as small as a pointer and an id; refers to a graph that must outlive it. Made empty, it refers to no node
// until one is assigned.
//
// Expressions, variables and queues convert to it. session::run runs it and returns nothing for it:
//
//   pn::operation train = optimizer.minimize(loss);
//   sess.run({{X, x}}, train);
class operation {
 public:
  operation() = default;
  operation(graph& g, node_id id) : graph_(g), id_(id) {}

  // True for an operation that refers to no node. owner(), and the functions that read the node, throw invalid_argument
  // for it, and failed_precondition where the graph was destroyed.
  bool empty() const { return graph_.empty(); }
  pinion::graph& owner() const { return *graph_; }
  // The number of the node, for use in `in`. Throws invalid_argument for a node of another graph than `in`, which is
  // that of `whose`, and what owner() throws.
  node_id id(const graph& in, std::string_view whose = "what uses it") const {
    return graph_.number_in(in, id_, whose);
  }
  const pinion::node& node() const { return (*graph_)[id_]; }

  const std::string& name() const { return node().name; }
  const std::string& op() const { return node().op; }
  const device_spec& requested_device() const { return node().requested; }

  friend bool operator==(const operation&, const operation&) = default;

 private:
  graph_ref graph_;
  node_id id_ = no_node;
};

}}  // namespace pinion::v0
