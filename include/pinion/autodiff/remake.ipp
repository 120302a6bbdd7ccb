// Bodies of <pinion/autodiff/remake.hpp>.
#pragma once

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include <pinion/autodiff/remake.hpp>
#include <pinion/op/control/bodies.hpp>
#include <pinion/op/source/op.hpp>
#include <pinion/opkit/build.hpp>

namespace pinion { inline namespace v0 { namespace autodiff {

PINION_DECL bool is_copy(const node& n) {
  constexpr std::string_view end = "/recompute";
  const std::size_t at = n.name.rfind(end);
  if (at == n.name.npos) return false;
  const std::string_view rest = std::string_view(n.name).substr(at + end.size());
  return rest.empty() || (rest[0] == '_' && rest.find_first_not_of("0123456789", 1) == rest.npos);
}

PINION_DECL std::vector<bool> repeatable_nodes(graph_view g) {
  std::vector<bool> constant(static_cast<std::size_t>(g.size()), false), all = constant;
  for (node_id id = 0; id < g.size(); ++id) {
    if (!g.contains(id)) continue;
    const node& n = g[id];
    const auto at = static_cast<std::size_t>(id);
    if (n.inputs.empty()) {
      constant[at] = n.op == op::constant::name;
      continue;
    }
    const bool follows = std::all_of(n.inputs.begin(), n.inputs.end(), [&](const output& in) {
      return bool(constant[static_cast<std::size_t>(in.node)]);
    });
    const bool repeats = op::is_repeatable(g, n);
    constant[at] = follows && repeats;
    all[at] = !follows && repeats && !definition_of(n.op).metadata;
  }
  return all;
}

PINION_DECL remaker::remaker(graph_view g, std::vector<int> part_of, std::vector<bool> repeatable)
    : g_(g), part_of_(std::move(part_of)), repeatable_(std::move(repeatable)) {}

PINION_DECL node_id remaker::copy_of(node_id id, const way& how) {
  for (const node_id next : missing(id)) copy(next, how);
  return copies_.at(id);
}

PINION_DECL std::vector<node_id> remaker::missing(node_id id) const {
  std::set<node_id> found;
  for (std::vector<node_id> open{id}; !open.empty();) {
    const node_id next = open.back();
    open.pop_back();
    if (copies_.contains(next) || !found.insert(next).second) continue;
    for (const output& in : g_[next].inputs)
      if (reads_copy_of(in.node, next)) open.push_back(in.node);
  }
  return {found.begin(), found.end()};
}

PINION_DECL void remaker::copy(node_id id, const way& how) {
  node n = g_[id];
  bool waits = false;
  for (output& in : n.inputs) {
    const bool again = reads_copy_of(in.node, id);
    waits = waits || again;
    in = again ? output{copies_.at(in.node), in.index} : how.kept(in);
  }
  n.control_inputs.clear();
  if (!waits) n.control_inputs = how.waits_for;
  n.base_name = std::exchange(n.name, {}) + "/recompute";
  n.scope = nullptr;  // the request stays, and its guards are not asked again
  n.consumers = 0;
  n.settled = n.absorbed = n.pinned = false;
  n.named = true;
  copies_.emplace(id, how.add(std::move(n), id));
}

}}}  // namespace pinion::v0::autodiff
