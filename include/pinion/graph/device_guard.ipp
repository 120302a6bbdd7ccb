// Bodies of <pinion/graph/device_guard.hpp>.
#pragma once

#include <pinion/graph/device_guard.hpp>

namespace pinion { inline namespace v0 {

PINION_DECL device::device(const device_spec& spec, source_location where) {
  device_scope entry{.kind = device_scope::spec, .own = spec, .where = where};
  if (!spec.empty()) entry.use = scope_state::current().graph->guard_at(where);
  open(std::move(entry));
}

PINION_DECL device::device(std::nullptr_t, source_location where) {
  open({.kind = device_scope::null, .where = where});
}

PINION_DECL device::~device() {
  auto& state = scope_state::current();
  state.graph->settle_before_closing();  // the guard may destroy its policy
  if (state.device->use) state.device->use->closed.store(true, std::memory_order_relaxed);
  state.device = state.device->outer;
}

PINION_DECL void device::open(device_scope entry) {
  auto& state = scope_state::current();
  state.graph->settle();
  entry.outer = state.device;
  state.device = std::make_shared<const device_scope>(std::move(entry));
}

}}  // namespace pinion::v0
