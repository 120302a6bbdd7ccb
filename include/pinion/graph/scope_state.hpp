// The scopes that a thread has open, which apply to each node that it makes.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/graph/graph.hpp>

namespace pinion { inline namespace v0 {

// One level of control dependencies. `first` is the first id that a node made inside it can have.
struct control_scope {
  std::vector<node_id> before;
  node_id first = 0;
  bool clears = false;
  std::shared_ptr<const control_scope> outer;
};

// The open scopes of one thread, for its default graph. A guard saves the member that it changes and restores it.
struct scope_state {
  pinion::graph* graph = nullptr;
  std::shared_ptr<const device_scope> device;
  std::shared_ptr<const control_scope> control;
  std::string name_prefix;  // as "layer_1/"
  std::string container;
  std::vector<node_id> colocation;
  source_location caller;  // set by called_from

  // The scopes of the calling thread.
  static scope_state& current();
  // The graph that the calling thread owns, which is its default graph unless as_default() says otherwise.
  static std::unique_ptr<pinion::graph>& own_graph();

 private:
  static scope_state first_state();
};

// The graph in which this thread's expressions are built.
inline graph& default_graph() {
  return *scope_state::current().graph;
}

// Replaces the thread's own default graph by an empty one. Throws failed_precondition while as_default() has made
// another graph the default. The old graph is destroyed; expressions that refer to it throw failed_precondition when
// they are used.
void reset_default_graph();

// Makes a graph the thread's default, with no scopes open. The destructor restores the scopes that were open before.
// Made and destroyed in one thread, in stack order.
class [[nodiscard]] default_scope {
 public:
  PINION_GUARD explicit default_scope(graph& g);
  default_scope(const default_scope&) = delete;
  ~default_scope() { scope_state::current() = std::move(saved_); }

 private:
  scope_state saved_;
};

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/graph/scope_state.ipp>
#endif
