// Bodies of <pinion/graph/graph.hpp>.
#pragma once

#include <atomic>
#include <deque>
#include <exception>
#include <map>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include <pinion/graph/graph.hpp>

namespace pinion { inline namespace v0 {

namespace detail {
inline std::string lower_case(std::string text) {
  for (char& c : text)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return text;
}
}  // namespace detail

struct graph::records {
  std::deque<node> nodes;  // a deque keeps references valid while it grows
  std::vector<node_id> unsettled;
  std::unordered_map<std::string, node_id> names;
  std::unordered_map<std::string, int> name_uses;
  std::map<std::string, std::vector<node_id>> collections;
  std::map<const void*, std::shared_ptr<void>> attachments;
  std::uint64_t changes = 0;
  bool finalized = false;
  std::vector<std::shared_ptr<const guard_use>> policies;
  std::map<std::pair<std::string_view, unsigned>, std::shared_ptr<guard_use>> guards;
  std::vector<std::pair<std::string, std::string>> renamed;
  std::unique_ptr<error> fault;
  std::atomic<bool> waiting{false};            // there is a node to settle, or a fault to throw
  std::atomic<const void*> settling{nullptr};  // key of the thread that settles: a small lock
  bool closing = false;

  node_id size() const { return static_cast<node_id>(nodes.size()); }
  node& at(node_id id) { return nodes[static_cast<std::size_t>(id)]; }
  const node& at(node_id id) const { return nodes[static_cast<std::size_t>(id)]; }
  std::string unique_name(const std::string& base);
  void count_consumers(const node& n, int more);
  void release_name(const node& n);
  void settle_all();
};

namespace detail {
// The lock of the thread that settles a graph's nodes; other threads wait for it, which is short. A thread that holds
// it already gets a nested one.
class settling_lock {
 public:
  explicit settling_lock(std::atomic<const void*>& of) : of_(of) {
    thread_local const char here = 0;  // its address names the thread
    nested_ = of.load(std::memory_order_relaxed) == &here;
    if (nested_) return;
    for (const void* nobody = nullptr; !of.compare_exchange_weak(nobody, &here, std::memory_order_acquire);)
      nobody = nullptr;
  }
  settling_lock(const settling_lock&) = delete;
  ~settling_lock() {
    if (!nested_) of_.store(nullptr, std::memory_order_release);
  }
  bool is_nested() const { return nested_; }

 private:
  std::atomic<const void*>& of_;
  bool nested_ = false;
};
}  // namespace detail

PINION_DECL graph::graph() : life_(std::make_shared<life>()), records_(std::make_unique<records>()) {
  life_->at.store(this, std::memory_order_release);
}

PINION_DECL graph::~graph() {
  life_->at.store(nullptr, std::memory_order_release);
}

PINION_DECL node_id graph::size() const {
  return kept().size();
}

PINION_DECL bool graph::contains(node_id id) const {
  return id >= 0 && id < size() && !kept().at(id).absorbed;
}

PINION_DECL const node& graph::peek(node_id id) const {
  return kept().at(id);
}

PINION_DECL node_id graph::peek(std::string_view name) const {
  const auto at = kept().names.find(std::string(name));
  return at == kept().names.end() ? no_node : at->second;
}

PINION_DECL const output_type& graph::type_of(output o) const {
  return peek(o.node).outputs[static_cast<std::size_t>(o.index)];
}

PINION_DECL const std::vector<node_id>& graph::collection(const std::string& name) const {
  static const std::vector<node_id> nothing;
  const auto at = kept().collections.find(name);
  return at == kept().collections.end() ? nothing : at->second;
}

PINION_DECL void graph::add_to_collection(const std::string& name, node_id id) {
  records_->collections[name].push_back(id);
}

PINION_DECL std::shared_ptr<void>& graph::attachment(const void* key) {
  return records_->attachments[key];
}

PINION_DECL const std::vector<std::shared_ptr<const guard_use>>& graph::policies() const {
  return kept().policies;
}

PINION_DECL void graph::add_policy(std::shared_ptr<const guard_use> p) {
  records_->policies.push_back(std::move(p));
}

PINION_DECL std::vector<std::shared_ptr<const guard_use>> graph::guards() const {
  std::vector<std::shared_ptr<const guard_use>> all;
  for (const auto& [line, use] : kept().guards) all.push_back(use);
  return all;
}

PINION_DECL std::shared_ptr<guard_use> graph::guard_at(source_location where) {
  std::shared_ptr<guard_use>& use = records_->guards[{where.file, where.line}];
  if (!use) use = std::make_shared<guard_use>();
  use->where = where;
  return use;
}

PINION_DECL const std::vector<std::pair<std::string, std::string>>& graph::renamed() const {
  return kept().renamed;
}

PINION_DECL void graph::note_renamed(std::string name, std::string wanted) {
  records_->renamed.emplace_back(std::move(name), std::move(wanted));
}

PINION_DECL void graph::finalize(bool finalized) {
  if (finalized) settle();
  records_->finalized = finalized;
}

PINION_DECL bool graph::finalized() const {
  return kept().finalized;
}

PINION_DECL node_id graph::add(node n, bool may_be_absorbed) {
  if (finalized())
    throw error(errc::failed_precondition, "the graph is finalized, as a monitored session does: '" +
                                               (n.name.empty() ? n.base_name : n.name) +
                                               "' has to be made before the session")
        .at_node(n.name.empty() ? n.base_name : n.name, n.op, to_string(n.where));
  if (!may_be_absorbed) settle();
  ++records_->changes;
  records_->count_consumers(n, 1);
  records_->nodes.push_back(std::move(n));
  const node_id id = size() - 1;
  records_->unsettled.push_back(id);
  records_->waiting.store(true, std::memory_order_relaxed);
  if (!may_be_absorbed) settle();
  return id;
}

PINION_DECL void graph::adopt(std::optional<node> n) {
  settle();
  ++records_->changes;
  node& last = records_->nodes.emplace_back(n ? std::move(*n) : node{});
  last.settled = true;
  last.absorbed = !n;
  last.consumers = 0;
  if (last.absorbed) return;
  last.base_name = last.name;
  records_->name_uses.try_emplace(detail::lower_case(last.name), 1);
  records_->names[last.name] = size() - 1;
  records_->count_consumers(last, 1);
}

PINION_DECL void graph::absorb(node_id id) {
  ++records_->changes;
  node& n = records_->at(id);
  records_->count_consumers(n, -1);
  if (n.settled) records_->release_name(n);
  n.absorbed = true;
  // The id is not used again, so that an old handle cannot mean another node.
  std::erase(records_->unsettled, id);
}

PINION_DECL node& graph::change(node_id id) {
  settle();
  ++records_->changes;
  return records_->at(id);
}

PINION_DECL std::uint64_t graph::changes() const {
  return kept().changes;
}

PINION_DECL void graph::settle() {
  if (!settled()) records_->settle_all();
}

PINION_DECL bool graph::settled() const {
  return !kept().waiting.load(std::memory_order_acquire);
}

PINION_DECL void graph::settle_before_closing() noexcept {
  records_->closing = true;
  settle();
  records_->closing = false;
}

PINION_DECL std::string graph::unique_name(const std::string& base) {
  return records_->unique_name(base);
}

PINION_DECL std::string graph::records::unique_name(const std::string& base) {
  int& used = name_uses[detail::lower_case(base)];
  if (used == 0) {
    used = 1;
    return base;
  }
  for (;;) {
    std::string candidate = base + "_" + std::to_string(used++);
    int& taken = name_uses[detail::lower_case(candidate)];
    if (taken == 0) {
      taken = 1;
      return candidate;
    }
  }
}

PINION_DECL void graph::records::count_consumers(const node& n, int more) {
  for (const output& in : n.inputs) at(in.node).consumers += more;
  for (const node_id c : n.control_inputs) at(c).consumers += more;
}

PINION_DECL void graph::records::release_name(const node& n) {
  names.erase(n.name);
  name_uses.erase(detail::lower_case(n.name));
  if (n.name != n.base_name) --name_uses[detail::lower_case(n.base_name)];
}

PINION_DECL void graph::records::settle_all() {
  const detail::settling_lock lock(settling);
  if (lock.is_nested()) return;  // a policy that is being asked reads the graph
  const auto pending = std::exchange(unsettled, {});
  for (const node_id id : pending) {
    node& n = at(id);
    if (n.name.empty())
      n.name = unique_name(n.base_name);
    else
      name_uses.try_emplace(detail::lower_case(n.name), 1);  // reserves "v/read", say, for this node
    names[n.name] = id;
    n.settled = true;
    try {
      resolve_request(n);
    } catch (...) {
      // The first fault is kept, since later ones may follow from it.
      if (!fault) fault = std::make_unique<error>(current_error().at_node(n.name, n.op, to_string(n.where)));
    }
  }
  const bool throws = fault && std::uncaught_exceptions() == 0 && !closing;
  const auto thrown = throws ? std::move(fault) : nullptr;
  waiting.store(fault != nullptr || !unsettled.empty(), std::memory_order_release);
  if (thrown) throw error(*thrown);
}

}}  // namespace pinion::v0
