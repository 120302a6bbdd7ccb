// A node of a graph, as data: an op, its inputs, its attributes, and the types of its outputs.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/base/source_location.hpp>
#include <pinion/graph/attribute.hpp>
#include <pinion/spec/device_spec.hpp>

namespace pinion { inline namespace v0 {

// The number of a node in its graph. Nodes are numbered from 0 in the order in which they were made.
using node_id = std::int32_t;
inline constexpr node_id no_node = -1;

// One output of a node, at which an edge starts. A value.
//
// Output 0 is what an expression of the node stands for, unless the op has several.
struct output {
  node_id node = no_node;
  int index = 0;
  friend bool operator==(const output&, const output&) = default;
};

// The type of an output, as far as it is known before the graph runs. A reference names the state of a variable, a
// resource names a state of another kind; neither is a value that moves between devices.
//
// Where reference or resource is set, `dtype` and `shape` describe the state.
struct output_type {
  pinion::dtype dtype = pinion::dtype::invalid;
  pinion::shape shape = pinion::shape::any();
  bool reference = false;
  bool resource = false;

  // The size in bytes; 0 where the shape is not known.
  std::int64_t bytes() const { return shape.known() ? shape.count() * static_cast<std::int64_t>(size_of(dtype)) : 0; }
};

struct device_scope;

// A node, owned by its graph, which alone changes it.
//
// Read it through graph::operator[], which settles it. The reference is valid until a node is added.
struct node {
  std::string name;
  std::string op;
  std::vector<output> inputs;
  std::vector<node_id> control_inputs;
  attributes attrs;
  std::vector<output_type> outputs;
  device_spec requested;                // valid once settled
  std::string request_reason;           // its origin: "guard at model.cpp:12", "node W", "forward op MatMul"; or ""
  std::vector<std::string> colocation;  // names of the nodes it must stand with
  source_location where;

  // The rest serves the code that builds; code that reads a graph_view has no use for it.
  std::string base_name;                      // the name, until it is made unique
  std::shared_ptr<const device_scope> scope;  // the guards around it, which are asked when it is settled
  int consumers = 0;                          // inputs and control inputs of other nodes that lead here
  bool settled = false;                       // it has its name and its device
  bool absorbed = false;                      // its consumer does its work, and its id is unused
  bool named = false;                         // its user named it, so no consumer absorbs it
  bool pinned = false;                        // a spec was laid over its request: see dsl::pin
  bool on_host = false;                       // it computes on a CPU: only the task and CPU of a request count
};

// The name of an output: "name" for output 0, "name:1" for output 1.
std::string output_name(const node& n, int index);

// The view of a node that a placement policy is given. Valid during that call.
//
// A policy keeps no pointer to it: name() and op() refer to the node.
class node_view {
 public:
  node_view(const node& n, const device_spec& gathered) : node_(&n), device_(gathered) {}

  // The node's name and op, and the type of its first output; invalid and any() for a node without outputs.
  std::string_view name() const { return node_->name; }
  std::string_view op() const { return node_->op; }
  pinion::dtype dtype() const { return node_->outputs.empty() ? pinion::dtype::invalid : node_->outputs[0].dtype; }
  pinion::shape shape() const { return node_->outputs.empty() ? pinion::shape::any() : node_->outputs[0].shape; }
  // The size of the first output in bytes; 0 where its shape is not known.
  std::int64_t bytes() const { return node_->outputs.empty() ? 0 : node_->outputs[0].bytes(); }
  // The device that the guards inside the policy ask for.
  const device_spec& device() const { return device_; }
  // True for a node of that op: op.is<pn::op::matmul>(), or a user's own op type.
  template <class Op>
  bool is() const {
    return node_->op == Op::name;
  }

 private:
  const node* node_;
  device_spec device_;
};

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/graph/node.ipp>
#endif
