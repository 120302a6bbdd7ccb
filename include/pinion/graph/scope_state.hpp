// What the open scopes of a thread say to a node that is being made.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <pinion/graph/graph.hpp>

namespace pinion::inline v0 {

// One entry of the device stack: a link of a list that is never changed, so that a node remembers its guards by one
// pointer, and two nodes made under the same guards can be told by comparing it.
struct device_scope {
  enum kind_t { spec, policy, null } kind = spec;
  device_spec own{};
  std::function<device_spec(const node_view&)> choose;  // of a policy
  source_location where{};
  std::shared_ptr<const device_scope> outer;
};

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
inline graph& default_graph() { return *scope_state::current().graph; }

// Replaces the thread's own default graph by an empty one. Refused while a graph is default through as_default(), and
// fatal to expressions that still refer to the old graph, which is destroyed.
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
  explicit default_scope(graph& g) : saved_(std::move(scope_state::current())) {
    scope_state::current() = {};
    scope_state::current().graph = &g;
  }
  default_scope(const default_scope&) = delete;
  ~default_scope() { scope_state::current() = std::move(saved_); }

 private:
  scope_state saved_;
};

inline default_scope graph::as_default() { return default_scope(*this); }

// The request of a node: its guards from the innermost outwards. A policy's answer replaces what inner guards gathered;
// a null guard ends the walk. Writes down which guards had a say.
PINION_DECL void resolve_request(node& n);

#if PINION_DEFINE_GRAPH
PINION_DECL void resolve_request(node& n) {
  device_spec gathered = n.requested;
  for (const device_scope* s = n.scope.get(); s && s->kind != device_scope::null; s = s->outer.get()) {
    const device_spec before = gathered;
    gathered = s->kind == device_scope::policy ? s->choose(node_view(n, gathered)) : merge(s->own, gathered);
    if (gathered == before) continue;
    if (!n.request_reason.empty()) n.request_reason += ", ";
    n.request_reason += s->kind == device_scope::policy ? "policy" : "guard";
    n.request_reason += " at " + to_string(s->where);
  }
  n.requested = gathered;
}

PINION_DECL void graph::settle_all() {
  const void* const me = &scope_state::current();
  if (settling_.load(std::memory_order_relaxed) == me) return;  // a policy that is being asked looks at the graph
  for (const void* nobody = nullptr; !settling_.compare_exchange_weak(nobody, me, std::memory_order_acquire);) nobody = nullptr;
  auto waiting = std::move(unsettled_);
  unsettled_.clear();
  for (std::size_t i = 0; i < waiting.size(); ++i) {
    node& n = nodes_[index(waiting[i])];
    if (n.name.empty()) n.name = unique_name(n.base_name);
    else name_uses_.try_emplace(lower_case(n.name), 1);  // "v/read", which nobody else may get
    names_[n.name] = waiting[i];
    n.settled = true;
    try {
      resolve_request(n);
    } catch (error& e) {
      e.at_node(n.name, n.op, to_string(n.where));
      fault_ = std::make_unique<error>(e);
    } catch (const std::exception& other) {
      fault_ = std::make_unique<error>(errc::unknown, std::string("a placement policy threw: ") + other.what());
      fault_->at_node(n.name, n.op, to_string(n.where));
    }
  }
  const bool throws = fault_ && std::uncaught_exceptions() == 0 && !closing_;
  const auto fault = throws ? std::move(fault_) : nullptr;
  waiting_.store(fault_ != nullptr || !unsettled_.empty(), std::memory_order_release);
  settling_.store(nullptr, std::memory_order_release);
  if (fault) throw error(*fault);
}

PINION_DECL void graph::settle_before_closing() noexcept {
  closing_ = true;
  settle();
  closing_ = false;
}
#endif

}  // namespace pinion::inline v0
