// What the open scopes of a thread say to a node that is being made.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <pinion/graph/graph.hpp>

namespace pinion::inline v0 {

// One level of control dependencies. Nodes made since it opened are those with ids from `first` on.
struct control_scope {
  std::vector<node_id> before;
  node_id first = 0;
  bool clears = false;
  std::shared_ptr<const control_scope> outer;
};

// The scopes of one thread on one graph. A guard saves the member it changes and puts it back.
struct scope_state {
  pinion::graph* graph = nullptr;
  std::shared_ptr<const device_scope> device;
  std::shared_ptr<const control_scope> control;
  std::string name_prefix;  // "layer_1/"
  std::string container;
  std::vector<node_id> colocation;
  source_location caller;  // see called_from

  static scope_state& current() {
    thread_local scope_state state = first_state();
    return state;
  }
  static std::unique_ptr<pinion::graph>& own_graph() {
    thread_local auto mine = std::make_unique<pinion::graph>();
    return mine;
  }

 private:
  static scope_state first_state() {
    scope_state s;
    s.graph = own_graph().get();
    return s;
  }
};

// The graph that expressions of this thread are built in.
inline graph& default_graph() {
  return *scope_state::current().graph;
}

// Replaces the thread's own default graph by an empty one. Refused while a graph is default through as_default(). The
// old graph is destroyed; expressions that refer to it throw failed_precondition when they are used.
inline void reset_default_graph() {
  auto& mine = scope_state::own_graph();
  if (scope_state::current().graph != mine.get())
    throw error(errc::failed_precondition, "reset_default_graph() inside as_default(): close that scope first");
  mine = std::make_unique<graph>();
  scope_state::current() = {};
  scope_state::current().graph = mine.get();
}

// Makes a graph the thread's default, with no scopes open. Closing restores the scopes that were open before.
class [[nodiscard]] default_scope {
 public:
  PINION_GUARD explicit default_scope(graph& g) : saved_(std::move(scope_state::current())) {
    scope_state::current() = {};
    scope_state::current().graph = &g;
    scope_state::current().caller = saved_.caller;
  }
  default_scope(const default_scope&) = delete;
  ~default_scope() { scope_state::current() = std::move(saved_); }

 private:
  scope_state saved_;
};

inline default_scope graph::as_default() {
  return default_scope(*this);
}

}  // namespace pinion::inline v0
