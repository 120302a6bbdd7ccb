// What differs between two plans.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include <pinion/placement/plan/plan.hpp>

namespace pinion::inline v0 {

// A value. Nodes are told by their names.
struct plan_diff {
  struct moved_node {
    std::string name, from, to;
    std::string reason;  // in the second plan
  };
  std::vector<moved_node> moved;
  std::vector<std::string> only_in_first, only_in_second;
  double makespan_first = 0, makespan_second = 0;  // seconds, as estimated

  // Is every node of the one in the other, on the same device?
  bool empty() const { return moved.empty() && only_in_first.empty() && only_in_second.empty(); }
};

PINION_DECL plan_diff diff(const plan& first, const plan& second);

// A line for each difference: "mul: /…/device:CPU:0 -> /…/device:GPU:0 (first device)", "- gone", "+ new".
PINION_DECL std::string to_string(const plan_diff& d);

#if PINION_DEFINE_GRAPH
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
#endif

}  // namespace pinion::inline v0

template <>
struct fmt::formatter<pinion::plan_diff> : fmt::formatter<fmt::string_view> {
  template <class Context>
  auto format(const pinion::plan_diff& d, Context& context) const {
    return fmt::formatter<fmt::string_view>::format(to_string(d), context);
  }
};
