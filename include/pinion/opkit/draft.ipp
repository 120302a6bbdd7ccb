// Bodies of <pinion/opkit/draft.hpp>.
#pragma once

#include <utility>

#include <pinion/opkit/draft.hpp>

namespace pinion { inline namespace v0 {

PINION_DECL draft::draft(std::vector<item> items, ends of_step, std::vector<std::string> device_types)
    : items_(std::move(items)), ends_(std::move(of_step)), device_types_(std::move(device_types)) {
  fed_.assign(items_.size(), false);
  for (const output& o : ends_.feeds) fed_[static_cast<std::size_t>(o.node)] = true;
  mark_ends();
}

PINION_DECL void draft::mark_ends() {
  is_end_.assign(items_.size(), false);
  for (const output& o : ends_.fetches) is_end_[static_cast<std::size_t>(o.node)] = true;
  for (const node_id t : ends_.targets) is_end_[static_cast<std::size_t>(t)] = true;
}

PINION_DECL void draft::count_uses() {
  uses_.assign(items_.size(), 0);
  for (const item& it : items_) {
    if (it.gone) continue;
    for (const output& in : it.node.inputs) ++uses_[static_cast<std::size_t>(in.node)];
    for (const node_id c : it.node.control_inputs) ++uses_[static_cast<std::size_t>(c)];
  }
  for (const output& o : ends_.fetches) ++uses_[static_cast<std::size_t>(o.node)];
  for (const node_id t : ends_.targets) ++uses_[static_cast<std::size_t>(t)];
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

PINION_DECL void draft::redirect(node_id user) {
  node& n = change(user);
  for (output& in : n.inputs) in.node = present(in.node);
  for (node_id& c : n.control_inputs) c = present(c);
}

PINION_DECL void draft::redirect_ends() {
  for (output& o : ends_.fetches) o.node = present(o.node);
  for (node_id& t : ends_.targets) t = present(t);
  mark_ends();
}

PINION_DECL int draft::drop_dead() {
  std::vector<bool> needed(items_.size(), false);
  for (const output& o : ends_.fetches) needed[static_cast<std::size_t>(o.node)] = true;
  for (const node_id t : ends_.targets) needed[static_cast<std::size_t>(t)] = true;
  for (const output& o : ends_.feeds) needed[static_cast<std::size_t>(o.node)] = true;
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

PINION_DECL node_id draft::present(node_id i) const {
  const node_id by = (*this)[i].replaced_by;
  return by == no_node ? i : by;
}

}}  // namespace pinion::v0
