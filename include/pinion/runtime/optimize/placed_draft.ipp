// Bodies of <pinion/runtime/optimize/placed_draft.hpp>.
#pragma once

#include <algorithm>
#include <unordered_map>
#include <utility>

#include <pinion/op/control/bodies.hpp>
#include <pinion/op/source/op.hpp>
#include <pinion/runtime/optimize/placed_draft.hpp>

namespace pinion { inline namespace v0 { namespace runtime { namespace detail {

inline draft draft_of(graph_view g, const placement& placed, const step_signature& s) {
  std::vector<draft::item> items;
  std::vector<std::pair<node_id, int>> all;
  for (std::size_t i = 0; i < placed.nodes().size(); ++i) all.emplace_back(placed.nodes()[i], placed.device_index(i));
  for (const output& o : s.feeds) all.emplace_back(o.node, -1);
  std::sort(all.begin(), all.end(),
            [](auto a, auto b) { return a.first < b.first || (a.first == b.first && a.second > b.second); });
  all.erase(std::unique(all.begin(), all.end(), [](auto a, auto b) { return a.first == b.first; }), all.end());
  std::unordered_map<node_id, node_id> place;
  for (const auto& [id, device] : all) {
    place.emplace(id, static_cast<node_id>(items.size()));
    items.push_back({g[id], id, device});
  }
  for (draft::item& it : items) {
    it.node.scope = nullptr;
    if (it.device < 0) {  // its inputs do not run
      it.node.inputs.clear();
      it.node.control_inputs.clear();
    }
    for (output& in : it.node.inputs) in.node = place.at(in.node);
    std::vector<node_id> before;
    for (const node_id c : it.node.control_inputs)
      if (const auto at = place.find(c); at != place.end()) before.push_back(at->second);
    it.node.control_inputs = std::move(before);
  }
  const auto moved = [&](std::vector<output> ends) {
    for (output& o : ends) o.node = place.at(o.node);
    return ends;
  };
  draft::ends ends{moved(s.feeds), moved(s.fetches), {}};
  for (const node_id t : s.targets) ends.targets.push_back(place.at(t));
  std::vector<std::string> device_types;
  for (const device_info& d : placed.devices()) device_types.emplace_back(d.spec.type());
  return {std::move(items), std::move(ends), std::move(device_types)};
}

}}}}  // namespace pinion::v0::runtime::detail

namespace pinion { inline namespace v0 { namespace runtime {

PINION_DECL placed_draft::placed_draft(graph_view g, const placement& placed, const step_signature& s)
    : draft(detail::draft_of(g, placed, s)),
      placed_(placed),
      feed_devices_(s.feed_devices),
      check_values_(s.check_values) {}

PINION_DECL bool is_repeatable(const draft& d, node_id i) {
  const node& n = d.node_at(i);
  return n.op != op::placeholder::name && !d.is_fed(i) &&
         op::is_repeatable(n, [&d](const output& in) -> const output_type& { return d.type_of(in); });
}

PINION_DECL optimized_step placed_draft::finished() {
  auto g = std::make_shared<graph>();
  std::vector<node_id> id(items_.size(), no_node);
  std::vector<std::pair<node_id, node_id>> kept;  // ids in the draft's source graph and in the new one
  std::vector<node_fate> fates;
  const std::vector<node_id> stand_ins = find_stand_ins();
  for (node_id i = 0; i < size(); ++i)
    if ((*this)[i].device >= 0) fates.push_back(fate_of(i, stand_ins[static_cast<std::size_t>(i)]));
  for (std::size_t i = 0; i < items_.size(); ++i) {
    item& it = items_[i];
    if (it.gone) continue;
    id[i] = g->size();
    for (output& in : it.node.inputs) in.node = id[static_cast<std::size_t>(in.node)];
    for (node_id& c : it.node.control_inputs) c = id[static_cast<std::size_t>(c)];
    if (it.device >= 0) kept.emplace_back(it.original, id[i]);
    g->adopt(std::move(it.node));
  }
  for (auto* list : {&ends_.feeds, &ends_.fetches})
    for (output& o : *list) o.node = id[static_cast<std::size_t>(o.node)];
  for (node_id& t : ends_.targets) t = id[static_cast<std::size_t>(t)];
  return {std::move(g),
          placed_.renamed(kept),
          {std::move(ends_.feeds), std::move(ends_.fetches), std::move(ends_.targets), std::move(feed_devices_),
           check_values_},
          std::move(fates)};
}

PINION_DECL std::vector<node_id> placed_draft::find_stand_ins() const {
  constexpr node_id not_known = no_node - 1;
  std::vector<node_id> found(items_.size(), not_known), way;
  for (node_id i = 0; i < size(); ++i) {
    node_id by = i;
    while (by != no_node && (*this)[by].gone && found[static_cast<std::size_t>(by)] == not_known) {
      way.push_back(by);
      by = (*this)[by].replaced_by != no_node ? (*this)[by].replaced_by : (*this)[by].folded_into;
    }
    if (by != no_node && (*this)[by].gone) by = found[static_cast<std::size_t>(by)];
    for (found[static_cast<std::size_t>(i)] = by; !way.empty(); way.pop_back())
      found[static_cast<std::size_t>(way.back())] = by;
  }
  return found;
}

PINION_DECL node_fate placed_draft::fate_of(node_id i, node_id stand_in) const {
  const item& it = (*this)[i];
  if (!it.gone && it.apart_from != no_node) return {node_fate::apart, (*this)[it.apart_from].original, it.obstacle};
  if (!it.gone) return {it.computed ? node_fate::computed : node_fate::runs};
  if (stand_in == no_node) return {node_fate::unused};
  return {it.replaced_by != no_node ? node_fate::shared : node_fate::folded, (*this)[stand_in].original};
}

}}}  // namespace pinion::v0::runtime
