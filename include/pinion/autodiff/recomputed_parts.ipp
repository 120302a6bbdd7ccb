// Bodies of <pinion/autodiff/recomputed_parts.hpp>.
#pragma once

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include <pinion/autodiff/recomputed_parts.hpp>
#include <pinion/base/arithmetic.hpp>
#include <pinion/op/operations.hpp>

namespace pinion { inline namespace v0 {

namespace autodiff {

// Parts are in the order of their nodes. An open part has all later nodes.
PINION_DECL int marked_parts::part_of(node_id id) const {
  const auto behind = std::upper_bound(all.begin(), all.end(), id,
                                       [](node_id wanted, const marked_part& part) { return wanted < part.first; });
  if (behind == all.begin()) return -1;
  const auto at = std::prev(behind);
  const bool is_open = open > 0 && behind == all.end();
  return is_open || id < at->last ? static_cast<int>(at - all.begin()) : -1;
}

}  // namespace autodiff

namespace detail {

// Adds up what a part saves and pays in a step.
class part_sum {
 public:
  part_sum(graph_view g, const autodiff::marked_part& part, const std::vector<node_id>& of_step)
      : g_(g), copies_(part.copies.begin(), part.copies.end()) {
    sum_.where = part.where;
    for (const node_id id : of_step)
      if (g_.contains(id)) copies_.contains(id) ? pay(id) : save(id);
  }
  const recomputed_part& sum() const { return sum_; }

 private:
  void pay(node_id copy) {
    if (++sum_.nodes == 1) sum_.first = g_[copy].name;
    const double operations = operations_of(g_, g_[copy]);
    if (std::isfinite(operations))
      sum_.operations += operations;
    else
      ++sum_.unknown;
  }
  // A value that somebody outside of the copies reads would have been kept.
  void save(node_id reader) {
    for (const output& in : g_[reader].inputs)
      if (copies_.contains(in.node) && saved_.insert({in.node, in.index}).second)
        sum_.bytes = saturated_sum(sum_.bytes, g_.type_of(in).bytes());
  }

  const graph_view g_;
  const std::set<node_id> copies_;
  std::set<std::pair<node_id, int>> saved_;
  recomputed_part sum_;
};

}  // namespace detail

PINION_DECL std::vector<recomputed_part> recomputed_parts(graph& g, const std::vector<node_id>& of_step) {
  std::vector<recomputed_part> all;
  for (const autodiff::marked_part& part : g.attached<autodiff::marked_parts>().all)
    if (const recomputed_part sum = detail::part_sum(g, part, of_step).sum(); sum.nodes > 0) all.push_back(sum);
  return all;
}

PINION_DECL std::vector<recomputed_part> recomputed_parts(graph& g) {
  std::vector<node_id> every;
  for (node_id id = 0; id < g.size(); ++id) every.push_back(id);
  return recomputed_parts(g, every);
}

PINION_DECL std::string to_string(const recomputed_part& part) {
  return fmt::format(
      "the part at {} is computed again from {} on: {} bytes are not kept, for {:.3g} operations of {} node{}{}",
      to_string(part.where), part.first, part.bytes, part.operations, part.nodes, part.nodes == 1 ? "" : "s",
      part.unknown == 0 ? "" : fmt::format("; {} of unknown size count in neither", part.unknown));
}

}}  // namespace pinion::v0
