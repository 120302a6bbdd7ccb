// Bodies of <pinion/runtime/optimize/draft.hpp>.
#pragma once

#include <algorithm>
#include <unordered_map>
#include <utility>

#include <pinion/op/source/op.hpp>
#include <pinion/runtime/optimize/draft.hpp>

namespace pinion { inline namespace v0 { namespace runtime {

PINION_DECL draft::draft(graph_view g, const placement& placed, const step_signature& s) : placed_(placed) {
  std::vector<std::pair<node_id, int>> all;
  for (std::size_t i = 0; i < placed.nodes().size(); ++i) all.emplace_back(placed.nodes()[i], placed.device_index(i));
  for (const output& o : s.feeds) all.emplace_back(o.node, -1);
  std::sort(all.begin(), all.end(),
            [](auto a, auto b) { return a.first < b.first || (a.first == b.first && a.second > b.second); });
  all.erase(std::unique(all.begin(), all.end(), [](auto a, auto b) { return a.first == b.first; }), all.end());
  std::unordered_map<node_id, node_id> place;
  for (const auto& [id, device] : all) {
    place.emplace(id, static_cast<node_id>(items_.size()));
    items_.push_back({g[id], id, device});
  }
  for (item& it : items_) {
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
  signature_ = {moved(s.feeds), moved(s.fetches), {}, s.feed_devices};
  for (const node_id t : s.targets) signature_.targets.push_back(place.at(t));
  fed_.assign(items_.size(), false);
  for (const output& o : signature_.feeds) fed_[static_cast<std::size_t>(o.node)] = true;
  mark_ends();
}

PINION_DECL void draft::mark_ends() {
  ends_.assign(items_.size(), false);
  for (const output& o : signature_.fetches) ends_[static_cast<std::size_t>(o.node)] = true;
  for (const node_id t : signature_.targets) ends_[static_cast<std::size_t>(t)] = true;
}

PINION_DECL std::string_view draft::device_type(node_id i) const {
  return placed_.devices()[static_cast<std::size_t>((*this)[i].device)].spec.type();
}

PINION_DECL bool draft::is_repeatable(node_id i) const {
  const node& n = node_at(i);
  return n.op != op::placeholder::name && !is_fed(i) &&
         op::is_repeatable(n, [this](const output& in) -> const output_type& { return type_of(in); });
}

PINION_DECL void draft::count_uses() {
  uses_.assign(items_.size(), 0);
  for (const item& it : items_) {
    if (it.gone) continue;
    for (const output& in : it.node.inputs) ++uses_[static_cast<std::size_t>(in.node)];
    for (const node_id c : it.node.control_inputs) ++uses_[static_cast<std::size_t>(c)];
  }
  for (const output& o : signature_.fetches) ++uses_[static_cast<std::size_t>(o.node)];
  for (const node_id t : signature_.targets) ++uses_[static_cast<std::size_t>(t)];
}

PINION_DECL void draft::replace(node_id i, node_id by) {
  items_[static_cast<std::size_t>(i)].gone = true;
  items_[static_cast<std::size_t>(i)].replaced_by = by;
  items_[static_cast<std::size_t>(by)].folded_into = no_node;  // it is read itself now, by the users of `i`
}

PINION_DECL void draft::keep_apart(node_id i, node_id reader, node_fate::obstacle why) {
  item& it = items_[static_cast<std::size_t>(i)];
  if (it.apart_from != no_node) return;
  it.apart_from = reader;
  it.obstacle = why;
}

PINION_DECL void draft::compute(node_id i, const any_tensor& value) {
  node& constant = change(i);
  for (const output& in : constant.inputs) fold(in.node, i);
  constant.op = op::constant::name;
  constant.inputs.clear();
  constant.attrs = {{"value", value}};
  constant.outputs = {{value.dtype(), value.shape()}};
  items_[static_cast<std::size_t>(i)].computed = true;
}

PINION_DECL void draft::redirect(node_id user) {
  node& n = change(user);
  for (output& in : n.inputs) in.node = present(in.node);
  for (node_id& c : n.control_inputs) c = present(c);
}

PINION_DECL void draft::redirect_ends() {
  for (output& o : signature_.fetches) o.node = present(o.node);
  for (node_id& t : signature_.targets) t = present(t);
  mark_ends();
}

PINION_DECL int draft::drop_dead() {
  std::vector<bool> needed(items_.size(), false);
  for (const output& o : signature_.fetches) needed[static_cast<std::size_t>(o.node)] = true;
  for (const node_id t : signature_.targets) needed[static_cast<std::size_t>(t)] = true;
  for (const output& o : signature_.feeds) needed[static_cast<std::size_t>(o.node)] = true;
  int dropped = 0;
  for (node_id i = size(); i-- > 0;) {
    item& it = items_[static_cast<std::size_t>(i)];
    if (it.gone) continue;
    if (!needed[static_cast<std::size_t>(i)]) {
      it.gone = true;
      ++dropped;
      continue;
    }
    for (const output& in : it.node.inputs) needed[static_cast<std::size_t>(in.node)] = true;
    for (const node_id c : it.node.control_inputs) needed[static_cast<std::size_t>(c)] = true;
  }
  return dropped;
}

PINION_DECL optimized_step draft::finished() {
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
  for (auto* ends : {&signature_.feeds, &signature_.fetches})
    for (output& o : *ends) o.node = id[static_cast<std::size_t>(o.node)];
  for (node_id& t : signature_.targets) t = id[static_cast<std::size_t>(t)];
  return {std::move(g), placed_.renamed(kept), std::move(signature_), std::move(fates)};
}

PINION_DECL std::vector<node_id> draft::find_stand_ins() const {
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

PINION_DECL node_fate draft::fate_of(node_id i, node_id stand_in) const {
  const item& it = (*this)[i];
  if (!it.gone && it.apart_from != no_node) return {node_fate::apart, (*this)[it.apart_from].original, it.obstacle};
  if (!it.gone) return {it.computed ? node_fate::computed : node_fate::runs};
  if (stand_in == no_node) return {node_fate::unused};
  return {it.replaced_by != no_node ? node_fate::shared : node_fate::folded, (*this)[stand_in].original};
}

PINION_DECL node_id draft::present(node_id i) const {
  const node_id by = (*this)[i].replaced_by;
  return by == no_node ? i : by;
}

}}}  // namespace pinion::v0::runtime
