// Bodies of <pinion/placement/plan/diff.hpp>.
#pragma once

#include <unordered_map>

#include <pinion/placement/plan/diff.hpp>

namespace pinion { inline namespace v0 {

PINION_DECL plan_diff diff(const plan& first, const plan& second) {
  plan_diff d;
  d.makespan_first = first.makespan();
  d.makespan_second = second.makespan();
  std::unordered_map<std::string_view, const placed_node*> before;
  for (const auto& n : first.nodes()) before[n.name] = &n;
  for (const auto& n : second.nodes()) {
    const auto at = before.find(n.name);
    if (at == before.end()) {
      d.only_in_second.push_back(n.name);
      continue;
    }
    if (at->second->device != n.device) d.moved.push_back({n.name, at->second->device, n.device, n.reason});
    before.erase(at);
  }
  for (const auto& n : first.nodes())
    if (before.count(n.name)) d.only_in_first.push_back(n.name);
  return d;
}

PINION_DECL std::string to_string(const plan_diff& d) {
  std::string text;
  for (const auto& m : d.moved) text += m.name + ": " + m.from + " -> " + m.to + " (" + m.reason + ")\n";
  for (const auto& name : d.only_in_first) text += "- " + name + "\n";
  for (const auto& name : d.only_in_second) text += "+ " + name + "\n";
  if (text.empty()) return "the same nodes on the same devices";
  return text + fmt::format("a step would take {:.1f} us instead of {:.1f} us", d.makespan_second * 1e6,
                            d.makespan_first * 1e6);
}

}}  // namespace pinion::v0
