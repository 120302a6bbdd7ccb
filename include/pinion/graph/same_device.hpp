// The guard that puts a helper's nodes on the device of another node: those of a gradient, say.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include <pinion/base/config.hpp>
#include <pinion/graph/graph_view.hpp>
#include <pinion/graph/scope_state.hpp>

namespace pinion { inline namespace v0 {

// While it lives, nodes of this thread ask for the device that a given node asks for, and for no other. Plans name
// `who` as the reason: "forward op MatMul", "node W". Made and destroyed in one thread, in stack order.
class [[nodiscard]] same_device {
 public:
  PINION_GUARD same_device(const node& n, const std::string& who);
  PINION_GUARD same_device(graph_view g, node_id id);
  same_device(const same_device&) = delete;
  ~same_device() { scope_state::current().device = std::move(saved_); }

 private:
  std::shared_ptr<const device_scope> saved_;
};

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/graph/same_device.ipp>
#endif
