// Bodies of <pinion/graph/scope_state.hpp>.
#pragma once

#include <pinion/graph/scope_state.hpp>

namespace pinion { inline namespace v0 {

PINION_DECL scope_state& scope_state::current() {
  thread_local scope_state state = first_state();
  return state;
}

PINION_DECL std::unique_ptr<pinion::graph>& scope_state::own_graph() {
  thread_local auto mine = std::make_unique<pinion::graph>();
  return mine;
}

PINION_DECL scope_state scope_state::first_state() {
  scope_state s;
  s.graph = own_graph().get();
  return s;
}

PINION_DECL void reset_default_graph() {
  auto& mine = scope_state::own_graph();
  if (scope_state::current().graph != mine.get())
    throw error(errc::failed_precondition, "reset_default_graph() inside as_default(): close that scope first");
  mine = std::make_unique<graph>();
  scope_state::current() = {};
  scope_state::current().graph = mine.get();
}

PINION_DECL default_scope::default_scope(graph& g) : saved_(std::move(scope_state::current())) {
  scope_state::current() = {};
  scope_state::current().graph = &g;
  scope_state::current().caller = saved_.caller;
}

PINION_DECL default_scope graph::as_default() {
  return default_scope(*this);
}

}}  // namespace pinion::v0
