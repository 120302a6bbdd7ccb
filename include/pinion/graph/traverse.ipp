// Bodies of <pinion/graph/traverse.hpp>.
#pragma once

#include <algorithm>

#include <pinion/base/cancellable_work.hpp>
#include <pinion/graph/op_names.hpp>
#include <pinion/graph/traverse.hpp>

namespace pinion { inline namespace v0 {

PINION_DECL std::vector<node_id> ancestors(graph_view g, const std::vector<output>& fetches,
                                           const std::vector<node_id>& targets, const std::vector<output>& feeds) {
  std::vector<bool> needed(static_cast<std::size_t>(g.size()), false);
  std::vector<node_id> stack;
  const auto comes_first = [](output a, output b) {
    return a.node < b.node || (a.node == b.node && a.index < b.index);
  };
  std::vector<output> fed = feeds;  // in order: a step may have as many feeds as edges
  std::sort(fed.begin(), fed.end(), comes_first);
  const auto is_fed = [&](output o) { return std::binary_search(fed.begin(), fed.end(), o, comes_first); };
  const auto need = [&](node_id id) {
    if (needed[static_cast<std::size_t>(id)]) return;
    needed[static_cast<std::size_t>(id)] = true;
    stack.push_back(id);
  };
  for (const output& f : fetches)
    if (!is_fed(f)) need(f.node);
  for (node_id t : targets) need(t);
  while (!stack.empty()) {
    cancellable_work::check();
    const node& n = g[stack.back()];
    stack.pop_back();
    for (const output& in : n.inputs)
      if (!is_fed(in)) need(in.node);
    for (node_id c : n.control_inputs)
      if (!is_fed({c, 0}) || g[c].op != op_names::placeholder) need(c);  // a fed placeholder is done already
  }
  std::vector<node_id> result;
  for (node_id id = 0; id < g.size(); ++id)
    if (needed[static_cast<std::size_t>(id)]) result.push_back(id);
  return result;
}

}}  // namespace pinion::v0
