// Nodes that must stand together: union-find over reference edges and colocation groups.
#pragma once

#include <numeric>
#include <string>
#include <unordered_map>
#include <vector>

#include <pinion/placement/problem.hpp>

namespace pinion::inline v0 {

// Groups of the problem's nodes by index in problem.nodes. Built once, read by a placer.
class colocation_groups {
 public:
  explicit colocation_groups(const placement_problem& p) : parent_(p.nodes.size()) {
    std::iota(parent_.begin(), parent_.end(), std::size_t{0});
    for (std::size_t i = 0; i < p.nodes.size(); ++i) index_[p.nodes[i]] = i;
    std::unordered_map<std::string, std::size_t> by_name;
    for (std::size_t i = 0; i < p.nodes.size(); ++i) by_name[p.graph[p.nodes[i]].name] = i;
    for (std::size_t i = 0; i < p.nodes.size(); ++i) {
      const node& n = p.graph[p.nodes[i]];
      for (const output& in : n.inputs)
        if (p.graph.type_of(in).reference && index_.count(in.node)) unite(i, index_[in.node]);
      for (const std::string& other : n.colocation)
        if (const auto at = by_name.find(other); at != by_name.end()) unite(i, at->second);
    }
  }

  std::size_t root(std::size_t i) const {
    while (parent_[i] != i) i = parent_[i] = parent_[parent_[i]];
    return i;
  }
  std::size_t index_of(node_id id) const { return index_.at(id); }
  bool holds(node_id id) const { return index_.count(id) > 0; }

 private:
  void unite(std::size_t a, std::size_t b) {
    a = root(a), b = root(b);
    if (a != b) parent_[std::max(a, b)] = std::min(a, b);
  }
  mutable std::vector<std::size_t> parent_;
  std::unordered_map<node_id, std::size_t> index_;
};

}  // namespace pinion::inline v0
