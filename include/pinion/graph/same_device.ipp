// Bodies of <pinion/graph/same_device.hpp>.
#pragma once

#include <pinion/graph/same_device.hpp>

namespace pinion { inline namespace v0 {

PINION_DECL same_device::same_device(const node& n, const std::string& who)
    : saved_(std::move(scope_state::current().device)) {
  scope_state::current().device =
      n.requested.empty()
          ? nullptr
          : std::make_shared<const device_scope>(device_scope{.own = n.requested, .where = n.where, .asked_by = who});
}

PINION_DECL same_device::same_device(graph_view g, node_id id) : same_device(g[id], "node " + g[id].name) {}

}}  // namespace pinion::v0
