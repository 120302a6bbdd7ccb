// Bodies of <pinion/graph/graph.hpp>.
#pragma once

#include <exception>

#include <pinion/graph/graph.hpp>

namespace pinion::inline v0 {

PINION_DECL const node& graph::operator[](node_id id) const {
  settle();
  return nodes_[index(id)];
}

PINION_DECL std::optional<node_view> graph::find(std::string_view name) const {
  const node_id id = id_of(name);
  if (id == no_node) return std::nullopt;
  return node_view(nodes_[index(id)], nodes_[index(id)].requested);
}

PINION_DECL node_id graph::id_of(std::string_view name) const {
  settle();
  const auto at = names_.find(std::string(name));
  return at == names_.end() ? no_node : at->second;
}

PINION_DECL const output_type& graph::type_of(output o) const {
  return nodes_[index(o.node)].outputs[static_cast<std::size_t>(o.index)];
}

PINION_DECL const std::vector<node_id>& graph::collection(const std::string& name) const {
  static const std::vector<node_id> nothing;
  const auto at = collections_.find(name);
  return at == collections_.end() ? nothing : at->second;
}

PINION_DECL std::shared_ptr<guard_use> graph::guard_at(source_location where) {
  std::shared_ptr<guard_use>& use = guards_[{where.file, where.line}];
  if (!use) use = std::make_shared<guard_use>();
  use->where = where;
  return use;
}

PINION_DECL node_id graph::add(node n, bool may_be_absorbed) {
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

PINION_DECL void graph::adopt(std::optional<node> n) {
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

PINION_DECL void graph::absorb(node_id id) {
  node& n = nodes_[index(id)];
  for (const output& in : n.inputs) --nodes_[index(in.node)].consumers;
  for (node_id c : n.control_inputs) --nodes_[index(c)].consumers;
  if (n.settled) release_name(n);
  n.absorbed = true;
  std::erase(unsettled_,
             id);  // its id is not given again: a handle of it that is still about shall not mean another node
}

PINION_DECL void graph::pin(node_id id, const device_spec& spec, const std::string& where) {
  settle();
  node& n = nodes_[index(id)];
  n.requested = merge(n.requested, spec);
  n.request_reason = "place at " + where + (n.request_reason.empty() ? "" : ", " + n.request_reason);
  n.pinned = true;
}

PINION_DECL void graph::settle() const {
  if (waiting_.load(std::memory_order_acquire)) const_cast<graph*>(this)->settle_all();
}

PINION_DECL std::string graph::unique_name(const std::string& base) {
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

PINION_DECL std::string graph::lower_case(std::string text) {
  for (char& c : text)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return text;
}

PINION_DECL void graph::release_name(const node& n) {
  names_.erase(n.name);
  if (n.name == n.base_name) {
    name_uses_.erase(lower_case(n.name));
    return;
  }
  name_uses_.erase(lower_case(n.name));
  --name_uses_[lower_case(n.base_name)];
}

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

}  // namespace pinion::inline v0
