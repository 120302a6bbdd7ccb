// One operation of a graph, as data.
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

using node_id = std::int32_t;
inline constexpr node_id no_node = -1;

// One output of a node: what an edge starts from.
struct output {
  node_id node = no_node;
  int index = 0;
  friend bool operator==(const output&, const output&) = default;
};

// What is known of an output before the graph runs. A reference names a variable's state rather than a value, a
// resource something else that stays where it is.
struct output_type {
  pinion::dtype dtype = pinion::dtype::invalid;
  pinion::shape shape = pinion::shape::any();
  bool reference = false;
  bool resource = false;

  // 0 where the shape is not known.
  std::int64_t bytes() const { return shape.known() ? shape.count() * static_cast<std::int64_t>(size_of(dtype)) : 0; }
};

struct device_scope;

struct node {
  std::string name;
  std::string op;
  std::vector<output> inputs;
  std::vector<node_id> control_inputs;
  attributes attrs;
  std::vector<output_type> outputs;
  device_spec requested;       // valid once settled
  std::string request_reason;  // who asks: "guard at model.cpp:12", "node W", "forward op MatMul"; "" if nobody
  std::vector<std::string> colocation;  // names of the nodes it must stand with
  source_location where;

  // Kept by the graph. A node whose name and device are not asked for yet may still be absorbed by its consumer.
  std::string base_name;
  std::shared_ptr<const device_scope> scope;
  int consumers = 0;
  bool settled = false;
  bool absorbed = false;
  bool named = false;    // by its user: it never vanishes into a consumer
  bool pinned = false;   // to a place of its own
  bool on_host = false;  // of a request only the task counts, and which CPU: it computes on no accelerator
};

// "name", "name:1".
std::string output_name(const node& n, int index);

// What a placement policy sees of a node: a view, valid during the call.
class node_view {
 public:
  node_view(const node& n, const device_spec& gathered) : node_(&n), device_(gathered) {}

  std::string_view name() const { return node_->name; }
  std::string_view op() const { return node_->op; }
  pinion::dtype dtype() const { return node_->outputs.empty() ? pinion::dtype::invalid : node_->outputs[0].dtype; }
  pinion::shape shape() const { return node_->outputs.empty() ? pinion::shape::any() : node_->outputs[0].shape; }
  // Bytes of the first output; 0 where its shape is not known.
  std::int64_t bytes() const { return node_->outputs.empty() ? 0 : node_->outputs[0].bytes(); }
  // The device gathered so far: what inner guards asked for.
  const device_spec& device() const { return device_; }
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
