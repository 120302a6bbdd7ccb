// Bodies of <pinion/placement/placement.hpp>.
#pragma once

#include <unordered_set>

#include <pinion/placement/placement.hpp>

namespace pinion::inline v0 {

PINION_DECL placement placement::renamed(const std::vector<std::pair<node_id, node_id>>& ids) const {
  placement other;
  other.devices_ = devices_;
  other.reasons_ = reasons_;
  std::size_t i = 0;
  for (const auto& [from, to] : ids) {
    while (nodes_[i] != from) ++i;
    other.nodes_.push_back(to);
    other.device_.push_back(device_[i]);
    other.reason_.push_back(reason_[i]);
  }
  return other;
}

PINION_DECL std::vector<std::size_t> keep(const placement& placed, std::unordered_map<node_id, std::string>& kept) {
  std::vector<std::size_t> fresh;
  for (std::size_t i = 0; i < placed.nodes().size(); ++i)
    if (kept.emplace(placed.nodes()[i], placed.device(i).name).second) fresh.push_back(i);
  return fresh;
}

PINION_DECL std::vector<std::string> placement_lines(const graph& g, const placement& placed,
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

}  // namespace pinion::inline v0
