// Bodies of <pinion/placement/placement.hpp>.
#pragma once

#include <algorithm>
#include <unordered_set>

#include <pinion/placement/placement.hpp>
#include <pinion/placement/placement_tables.hpp>

namespace pinion { inline namespace v0 {

namespace detail {
inline std::shared_ptr<const placement_tables> no_placement() {
  static const auto nothing = std::make_shared<const placement_tables>();
  return nothing;
}
}  // namespace detail

PINION_DECL placement::placement() : tables_(detail::no_placement()) {}

PINION_DECL const std::vector<device_info>& placement::devices() const {
  return tables_->devices;
}
PINION_DECL const std::vector<node_id>& placement::nodes() const {
  return tables_->nodes;
}
PINION_DECL int placement::device_index(std::size_t i) const {
  return tables_->device[i];
}
PINION_DECL std::span<const std::int32_t> placement::device_indices() const {
  return tables_->device;
}
PINION_DECL const device_info& placement::device(std::size_t i) const {
  return tables_->devices[static_cast<std::size_t>(tables_->device[i])];
}
PINION_DECL std::uint32_t placement::group(std::size_t i) const {
  return tables_->group[i];
}
PINION_DECL placement_reason placement::reason(std::size_t i) const {
  if (tables_->groups.empty()) return {};
  const auto& group = tables_->groups[tables_->group[i]];
  const placement_choice& choice = tables_->choices[group.choice];
  return {choice.by, group.leader, group.culprit, tables_->words[choice.words], tables_->refused[choice.refused]};
}
PINION_DECL const std::vector<std::pair<node_id, std::string>>& placement::dropped() const {
  return tables_->dropped;
}
PINION_DECL const std::vector<std::pair<node_id, unmet_request>>& placement::unmet() const {
  return tables_->unmet;
}

PINION_DECL const cost_model* placement::costs() const {
  return tables_->costs.get();
}

PINION_DECL placement placement::part(const std::vector<node_id>& nodes) const {
  auto some = std::make_shared<placement_tables>(*tables_);
  std::size_t i = 0, n = 0;
  for (const node_id id : nodes) {
    while (tables_->nodes[i] != id) ++i;
    some->device[n] = tables_->device[i];
    some->group[n++] = tables_->group[i];
  }
  some->nodes = nodes;
  some->device.resize(n);
  some->group.resize(n);
  const auto is_left = [&](const auto& record) {
    return !std::binary_search(nodes.begin(), nodes.end(), record.first);
  };
  std::erase_if(some->dropped, is_left);
  std::erase_if(some->unmet, is_left);
  return placement(std::move(some));
}

PINION_DECL placement placement::renamed(const std::vector<std::pair<node_id, node_id>>& ids) const {
  auto other = std::make_shared<placement_tables>();
  other->devices = tables_->devices;
  std::size_t i = 0;
  for (const auto& [from, to] : ids) {
    while (tables_->nodes[i] != from) ++i;
    other->nodes.push_back(to);
    other->device.push_back(tables_->device[i]);
    other->group.push_back(tables_->group[i]);
  }
  return placement(std::move(other));
}

PINION_DECL std::vector<std::size_t> keep(const placement& placed, std::unordered_map<node_id, std::string>& kept) {
  std::vector<std::size_t> fresh;
  for (std::size_t i = 0; i < placed.nodes().size(); ++i)
    if (kept.emplace(placed.nodes()[i], placed.device(i).name).second) fresh.push_back(i);
  return fresh;
}

PINION_DECL std::vector<std::string> placement_lines(graph_view g, const placement& placed,
                                                     const std::vector<std::size_t>& fresh) {
  std::vector<std::string> lines;
  std::unordered_set<node_id> told;
  for (const std::size_t i : fresh) {
    const node& n = g[placed.nodes()[i]];
    told.insert(placed.nodes()[i]);
    lines.push_back(n.name + ": (" + n.op + "): " + placed.device(i).name);
  }
  for (const auto& [id, what] : placed.dropped())
    if (told.count(id)) lines.push_back(g[id].name + ": " + what);
  return lines;
}

}}  // namespace pinion::v0
