// A graph: nodes in the order in which they were made, unique names, collections.
//
// Invariants
//   1. An edge leads from an earlier node to a later one.
//   2. A settled node is never changed again. An unsettled one is an elementwise node whose name and device nobody has
//      asked for yet; its consumer may absorb it, and then it was never there.
//   3. Unsettled nodes settle in the order in which they were made.
#pragma once

#include <algorithm>
#include <atomic>
#include <deque>
#include <exception>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/graph/device_scope.hpp>
#include <pinion/graph/node.hpp>

namespace pinion::inline v0 {

class default_scope;

namespace detail {
template <class>
inline char attachment_key = 0;  // its address tells types apart
}  // namespace detail

// Owned by the user and referred to by every expression and session made on it, which it must outlive. Not copied, not
// moved. One thread builds at a time; any number may run a graph that nobody is building.
class graph {
 public:
  // Where a graph is, for those that refer to it; null when it is gone.
  struct life {
    std::atomic<graph*> at{nullptr};
  };

  graph() { life_->at.store(this, std::memory_order_release); }
  ~graph() { life_->at.store(nullptr, std::memory_order_release); }
  const std::shared_ptr<life>& lives() const { return life_; }
  graph(const graph&) = delete;
  graph& operator=(const graph&) = delete;

  // Makes this the default graph of the thread, with empty scopes, until the returned guard goes.
  PINION_GUARD default_scope as_default();

  // Every node that is there, by id. Ids are dense but for absorbed nodes, which `contains` tells.
  node_id size() const { return static_cast<node_id>(nodes_.size()); }
  bool contains(node_id id) const { return id >= 0 && id < size() && !nodes_[index(id)].absorbed; }
  const node& operator[](node_id id) const {
    settle();
    return nodes_[index(id)];
  }
  std::optional<node_view> find(std::string_view name) const {
    const node_id id = id_of(name);
    if (id == no_node) return std::nullopt;
    return node_view(nodes_[index(id)], nodes_[index(id)].requested);
  }
  node_id id_of(std::string_view name) const {
    settle();
    const auto at = names_.find(std::string(name));
    return at == names_.end() ? no_node : at->second;
  }
  const output_type& type_of(output o) const {
    return nodes_[index(o.node)].outputs[static_cast<std::size_t>(o.index)];
  }

  // Collections: ids under a well-known name ("variables", "trainable_variables", "losses", ...), in order.
  const std::vector<node_id>& collection(const std::string& name) const {
    static const std::vector<node_id> nothing;
    const auto at = collections_.find(name);
    return at == collections_.end() ? nothing : at->second;
  }
  void add_to_collection(const std::string& name, node_id id) { collections_[name].push_back(id); }

  // What layers above keep with the graph: one object of each type, made on first use and gone with the graph.
  template <class T>
  T& attached() {
    std::shared_ptr<void>& held = attachments_[&detail::attachment_key<T>];
    if (!held) held = std::make_shared<T>();
    return *static_cast<T*>(held.get());
  }

  // The policies of the guards that were opened on this graph, in order.
  const std::vector<std::shared_ptr<const guard_use>>& policies() const { return policies_; }
  void add_policy(std::shared_ptr<const guard_use> p) { policies_.push_back(std::move(p)); }
  // The plain guards: one for each line that opened any.
  const std::map<std::pair<std::string_view, unsigned>, std::shared_ptr<guard_use>>& guards() const { return guards_; }
  std::shared_ptr<guard_use> guard_at(source_location where) {
    std::shared_ptr<guard_use>& use = guards_[{where.file, where.line}];
    if (!use) use = std::make_shared<guard_use>();
    use->where = where;
    return use;
  }

  // Variables that got another name than they were given, as that was taken: both names, in order.
  const std::vector<std::pair<std::string, std::string>>& renamed() const { return renamed_; }
  void note_renamed(std::string name, std::string wanted) { renamed_.emplace_back(std::move(name), std::move(wanted)); }

  // From now on, until it is lifted, adding a node throws failed_precondition: whoever runs the graph in a loop and
  // builds in it would slow down step by step.
  void finalize(bool finalized = true) { finalized_ = finalized; }
  bool finalized() const { return finalized_; }

  // Appends a node under a name made unique from its base_name. An unsettled one waits for its name and device.
  node_id add(node n, bool may_be_absorbed) {
    if (finalized_)
      throw error(errc::failed_precondition, "the graph is finalized, as a monitored session does: '" +
                                                 (n.name.empty() ? n.base_name : n.name) +
                                                 "' has to be made before the session")
          .at_node(n.name.empty() ? n.base_name : n.name, n.op, to_string(n.where));
    if (!may_be_absorbed) settle();
    for (const output& in : n.inputs) ++nodes_[index(in.node)].consumers;
    for (node_id c : n.control_inputs) ++nodes_[index(c)].consumers;
    nodes_.push_back(std::move(n));
    const node_id id = size() - 1;
    unsettled_.push_back(id);
    waiting_.store(true, std::memory_order_relaxed);
    if (!may_be_absorbed) settle();
    return id;
  }

  // Appends a node as it stands, named and settled, or a hole where one was absorbed: for replicas of graphs that are
  // built elsewhere. Requires: its name is new, and its inputs are earlier nodes.
  void adopt(std::optional<node> n) {
    settle();
    node& last = nodes_.emplace_back(n ? std::move(*n) : node{});
    last.settled = true;
    last.absorbed = !n;
    last.consumers = 0;
    if (last.absorbed) return;
    last.base_name = last.name;
    name_uses_.try_emplace(lower_case(last.name), 1);
    names_[last.name] = size() - 1;
    for (const output& in : last.inputs) ++nodes_[index(in.node)].consumers;
    for (node_id c : last.control_inputs) ++nodes_[index(c)].consumers;
  }

  // Takes an unconsumed elementwise node out again; its consumer has its inputs now.
  void absorb(node_id id) {
    node& n = nodes_[index(id)];
    for (const output& in : n.inputs) --nodes_[index(in.node)].consumers;
    for (node_id c : n.control_inputs) --nodes_[index(c)].consumers;
    if (n.settled) release_name(n);
    n.absorbed = true;
    std::erase(unsettled_,
               id);  // its id is not given again: a handle of it that is still about shall not mean another node
  }
  // A node as it stands, settled or not: for those who build.
  const node& peek(node_id id) const { return nodes_[index(id)]; }

  // Lays a spec over the request of a node, as if it were its innermost guard.
  void pin(node_id id, const device_spec& spec, const std::string& where) {
    settle();
    node& n = nodes_[index(id)];
    n.requested = merge(n.requested, spec);
    n.request_reason = "place at " + where + (n.request_reason.empty() ? "" : ", " + n.request_reason);
    n.pinned = true;
  }

  // Gives every node made so far its name and its device. Called by whoever looks, and when a scope closes.
  // Several threads may look at once.
  void settle() const {
    if (waiting_.load(std::memory_order_acquire)) const_cast<graph*>(this)->settle_all();
  }

  // The same where nothing may be thrown: what a policy throws is kept, and thrown to the next who looks.
  PINION_DECL void settle_before_closing() noexcept;

  // "mul" -> "mul", then "mul_1", "mul_2"; names differ by more than case.
  std::string unique_name(const std::string& base) {
    int& used = name_uses_[lower_case(base)];
    if (used == 0) {
      used = 1;
      return base;
    }
    for (;;) {
      std::string candidate = base + "_" + std::to_string(used++);
      int& taken = name_uses_[lower_case(candidate)];
      if (taken == 0) {
        taken = 1;
        return candidate;
      }
    }
  }

 private:
  static std::size_t index(node_id id) { return static_cast<std::size_t>(id); }
  static std::string lower_case(std::string text) {
    for (char& c : text)
      if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    return text;
  }
  PINION_DECL void settle_all();
  void release_name(const node& n) {
    names_.erase(n.name);
    if (n.name == n.base_name) {
      name_uses_.erase(lower_case(n.name));
      return;
    }
    name_uses_.erase(lower_case(n.name));
    --name_uses_[lower_case(n.base_name)];
  }

  const std::shared_ptr<life> life_ = std::make_shared<life>();
  std::deque<node> nodes_;  // references stay valid while it grows
  std::vector<node_id> unsettled_;
  std::unordered_map<std::string, node_id> names_;
  std::unordered_map<std::string, int> name_uses_;
  std::map<std::string, std::vector<node_id>> collections_;
  std::map<const void*, std::shared_ptr<void>> attachments_;
  bool finalized_ = false;
  std::vector<std::shared_ptr<const guard_use>> policies_;
  std::map<std::pair<std::string_view, unsigned>, std::shared_ptr<guard_use>> guards_;
  std::vector<std::pair<std::string, std::string>> renamed_;
  std::unique_ptr<error> fault_;
  std::atomic<bool> waiting_{false};            // is there a node to settle, or a fault to throw?
  std::atomic<const void*> settling_{nullptr};  // the thread that settles; a lock of the little kind
  bool closing_ = false;
};

#if PINION_DEFINE_GRAPH
PINION_DECL void graph::settle_all() {
  thread_local const char here = 0;  // its address names the thread
  const void* const me = &here;
  if (settling_.load(std::memory_order_relaxed) == me) return;  // a policy that is being asked looks at the graph
  for (const void* nobody = nullptr; !settling_.compare_exchange_weak(nobody, me, std::memory_order_acquire);)
    nobody = nullptr;
  std::unique_ptr<std::atomic<const void*>, void (*)(std::atomic<const void*>*)> hold(
      &settling_, [](std::atomic<const void*>* lock) { lock->store(nullptr, std::memory_order_release); });
  auto waiting = std::move(unsettled_);
  unsettled_.clear();
  for (std::size_t i = 0; i < waiting.size(); ++i) {
    node& n = nodes_[index(waiting[i])];
    if (n.name.empty())
      n.name = unique_name(n.base_name);
    else
      name_uses_.try_emplace(lower_case(n.name), 1);  // "v/read", which nobody else may get
    names_[n.name] = waiting[i];
    n.settled = true;
    try {
      resolve_request(n);
    } catch (...) {
      fault_ = std::make_unique<error>(current_error().at_node(n.name, n.op, to_string(n.where)));
    }
  }
  const bool throws = fault_ && std::uncaught_exceptions() == 0 && !closing_;
  const auto fault = throws ? std::move(fault_) : nullptr;
  waiting_.store(fault_ != nullptr || !unsettled_.empty(), std::memory_order_release);
  hold.reset();
  if (fault) throw error(*fault);
}

PINION_DECL void graph::settle_before_closing() noexcept {
  closing_ = true;
  settle();
  closing_ = false;
}
#endif

}  // namespace pinion::inline v0
