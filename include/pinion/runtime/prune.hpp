// The part of a graph that a step needs.
#pragma once

#include <algorithm>
#include <vector>

#include <pinion/graph/graph.hpp>
#include <pinion/runtime/signature.hpp>

namespace pinion::inline v0::runtime {

// Ancestors of the fetches and targets by data and control edges, ascending by id. A fed output cuts its producer off.
inline std::vector<node_id> prune(const graph& g, const step_signature& s) {
  std::vector<bool> needed(static_cast<std::size_t>(g.size()), false);
  std::vector<node_id> stack;
  const auto is_fed = [&](output o) { return std::find(s.feeds.begin(), s.feeds.end(), o) != s.feeds.end(); };
  const auto need = [&](node_id id) {
    if (needed[static_cast<std::size_t>(id)]) return;
    needed[static_cast<std::size_t>(id)] = true;
    stack.push_back(id);
  };
  for (const output& f : s.fetches)
    if (!is_fed(f)) need(f.node);
  for (node_id t : s.targets) need(t);
  while (!stack.empty()) {
    const node& n = g[stack.back()];
    stack.pop_back();
    for (const output& in : n.inputs)
      if (!is_fed(in)) need(in.node);
    for (node_id c : n.control_inputs) need(c);
  }
  std::vector<node_id> result;
  for (node_id id = 0; id < g.size(); ++id)
    if (needed[static_cast<std::size_t>(id)]) result.push_back(id);
  return result;
}

}  // namespace pinion::inline v0::runtime
