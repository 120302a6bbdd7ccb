// Bodies of <pinion/autodiff/values_again.hpp>.
#pragma once

#include <utility>

#include <pinion/autodiff/recomputed_parts.hpp>
#include <pinion/autodiff/values_again.hpp>

namespace pinion { inline namespace v0 { namespace autodiff {

PINION_DECL values_again::values_again(graph& g, graph_view forward) : g_(g) {
  const auto& parts = g.attached<marked_parts>();
  if (parts.all.empty()) return;
  std::vector<int> part_of(static_cast<std::size_t>(forward.size()));
  for (node_id id = 0; id < forward.size(); ++id) part_of[static_cast<std::size_t>(id)] = parts.part_of(id);
  copies_ = std::make_unique<remaker>(forward, std::move(part_of), repeatable_nodes(forward));
}

PINION_DECL node_id values_again::copy_of(node_id id) {
  const int part = part_of(id);
  auto& known = g_.attached<marked_parts>().all[static_cast<std::size_t>(part)].copies;
  const auto add = [&](node copy, node_id of) {
    if (copy.colocation.empty()) copy.colocation = {g_.peek(of).name};
    known.push_back(g_.add(std::move(copy), false));
    return known.back();
  };
  return copies_->copy_of(id, {[](output kept) { return kept; }, add, waits_for_[part]});
}

}}}  // namespace pinion::v0::autodiff
