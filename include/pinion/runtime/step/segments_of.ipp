// Bodies of <pinion/runtime/step/segments_of.hpp>.
#pragma once

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <numeric>
#include <utility>

#include <pinion/op/variable/op.hpp>
#include <pinion/runtime/step/segment.hpp>
#include <pinion/runtime/step/segments_of.hpp>

namespace pinion { inline namespace v0 { namespace runtime {

PINION_DECL segments_of::segments_of(std::vector<executable_item> from, graph_view g, task_services& services)
    : from_(std::move(from)), graph_(g), services_(services), group_of_(from_.size()) {
  int old_slots = 0;
  for (const auto& it : from_) old_slots = std::max(old_slots, it.first_output + it.outputs);
  slot_of_.assign(static_cast<std::size_t>(old_slots), -1);
  group();
  find_readers();
  for (const item_group& one : groups_) one.items.size() == 1 ? add_alone(one.items[0]) : add_segment(one.items);
  connect();
}

PINION_DECL std::vector<int> segments_of::stages() const {
  std::vector<int> stage(from_.size(), 0);
  int sent = 0;  // the latest stage of the sends so far
  for (std::size_t i = 0; i < from_.size(); ++i) {
    if (from_[i].kind == part_item::receive) stage[i] = std::max(stage[i], sent);
    if (from_[i].kind == part_item::send) sent = std::max(sent, stage[i]);
    for (const int next : from_[i].successors) {
      int& later = stage[static_cast<std::size_t>(next)];
      later = std::max(later, stage[i] + (is_free(from_[i]) != is_free(from_[static_cast<std::size_t>(next)])));
    }
  }
  for (std::size_t i = from_.size(); i-- > 0;) {
    if (!is_free(from_[i]) || from_[i].successors.empty()) continue;
    int latest = std::numeric_limits<int>::max();
    for (const int next : from_[i].successors) {
      const auto n = static_cast<std::size_t>(next);
      latest = std::min(latest, stage[n] - !is_free(from_[n]));
    }
    stage[i] = latest;
  }
  return stage;
}

namespace detail {

inline void add_all(std::vector<node_id>& to, const std::vector<node_id>& more) {
  std::vector<node_id> both;
  std::set_union(to.begin(), to.end(), more.begin(), more.end(), std::back_inserter(both));
  to = std::move(both);
}
inline void limit(std::vector<node_id>& all, node_id stand_in) {
  if (all.size() > part_item::most_waits) all = {stand_in};
}
// Keeps what both have; null stands for all nodes.
inline void keep_common(std::optional<std::vector<node_id>>& of, const std::optional<std::vector<node_id>>& other) {
  if (!other) return;
  if (!of) return of = other, void();
  std::vector<node_id> common;
  std::set_intersection(of->begin(), of->end(), other->begin(), other->end(), std::back_inserter(common));
  of = std::move(common);
}
inline bool holds(const std::optional<std::vector<node_id>>& all, const std::vector<node_id>& some) {
  return !all || std::includes(all->begin(), all->end(), some.begin(), some.end());
}

}  // namespace detail

PINION_DECL std::vector<std::optional<segments_of::nodes>> segments_of::waits_of_followers() const {
  std::vector<nodes> behind(from_.size());
  for (std::size_t i = 0; i < from_.size(); ++i) {
    detail::add_all(behind[i], from_[i].waits);
    detail::limit(behind[i], stand_in_of_item(i));
    for (const int next : from_[i].successors) detail::add_all(behind[static_cast<std::size_t>(next)], behind[i]);
  }
  std::vector<std::optional<nodes>> before(from_.size());
  for (std::size_t i = from_.size(); i-- > 0;) {
    if (!is_free(from_[i])) before[i] = std::move(behind[i]);
    for (const int next : from_[i].successors) detail::keep_common(before[i], before[static_cast<std::size_t>(next)]);
  }
  return before;
}

PINION_DECL void segments_of::group() {
  const std::vector<int> stage = stages();
  const std::vector<std::optional<nodes>> before = waits_of_followers();
  std::vector<std::vector<std::size_t>> predecessors(from_.size());
  for (std::size_t i = 0; i < from_.size(); ++i)
    for (const int next : from_[i].successors) predecessors[static_cast<std::size_t>(next)].push_back(i);
  std::vector<std::size_t> order(from_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return stage[a] < stage[b]; });
  std::map<int, std::vector<std::size_t>> segments;  // by stage
  for (const std::size_t i : order) {
    item_group alone{{i}, from_[i].waits, before[i]};
    std::size_t from = 0;
    for (const std::size_t p : predecessors[i]) {
      const auto g = static_cast<std::size_t>(group_of_[p]);
      detail::add_all(alone.behind, groups_[g].behind);
      from = std::max(from, g);
    }
    detail::limit(alone.behind, stand_in_of_item(i));
    std::vector<std::size_t> by_itself;
    group_of_[i] = static_cast<int>(group_for(alone, is_free(from_[i]) ? segments[stage[i]] : by_itself, from));
  }
}

PINION_DECL std::size_t segments_of::group_for(const item_group& alone, std::vector<std::size_t>& of_stage,
                                               std::size_t from) {
  constexpr std::size_t most = 64;  // the last groups are the ones that it may well fit
  for (std::size_t k = of_stage.size() - std::min(most, of_stage.size()); k < of_stage.size(); ++k) {
    const std::size_t number = of_stage[k];
    item_group& g = groups_[number];
    // A group that others may follow already waits for no more than it does.
    const bool may_grow = number == of_stage.back() || detail::holds(g.behind, alone.behind);
    if (number < from || !may_grow || !detail::holds(g.before, alone.behind) || !detail::holds(alone.before, g.behind))
      continue;
    g.items.insert(g.items.end(), alone.items.begin(), alone.items.end());
    detail::add_all(g.behind, alone.behind);
    detail::limit(g.behind, stand_in_of_group(number));
    detail::keep_common(g.before, alone.before);
    return number;
  }
  groups_.push_back(alone);
  of_stage.push_back(groups_.size() - 1);
  return groups_.size() - 1;
}

PINION_DECL void segments_of::find_readers() {
  read_inside_.assign(slot_of_.size(), false);
  read_outside_.assign(slot_of_.size(), false);
  for (std::size_t i = 0; i < from_.size(); ++i)
    for (const auto& in : from_[i].inputs)
      (group_of_[i] == group_of_[producer_of(in.slot)] ? read_inside_
                                                       : read_outside_)[static_cast<std::size_t>(in.slot)] = true;
}

PINION_DECL void segments_of::add_alone(std::size_t i) {
  executable_item it = from_[i];
  it.first_input = inputs;
  inputs += static_cast<int>(it.inputs.size());
  for (auto& in : it.inputs) in.slot = slot_of_[static_cast<std::size_t>(in.slot)];
  for (int o = 0; o < it.outputs; ++o) slot_of_[static_cast<std::size_t>(it.first_output + o)] = slots + o;
  it.first_output = slots;
  slots += it.outputs;
  items.push_back(std::move(it));
}

PINION_DECL void segments_of::add_segment(const std::vector<std::size_t>& members) {
  const int me = group_of_[members[0]];
  std::map<int, int> value_of;     // by old slot
  std::map<int, int> last_reader;  // by value: the number of a member
  std::vector<int> sources;        // old slots of the inputs
  for (const std::size_t i : members)
    for (const auto& in : from_[i].inputs)
      if (group_of_[producer_of(in.slot)] != me &&
          value_of.try_emplace(in.slot, static_cast<int>(sources.size())).second)
        sources.push_back(in.slot);
  int values = static_cast<int>(sources.size());
  std::vector<segment::member> parts;
  std::vector<int> results;  // old slots of the outputs
  std::vector<std::shared_ptr<state::variable>> variables;
  for (const std::size_t i : members) {
    const executable_item& it = from_[i];
    segment::member m{it.node, it.kernel, {}, values, it.outputs, {}, {}};
    for (const auto& in : it.inputs) {
      m.inputs.push_back(value_of.at(in.slot));
      last_reader[m.inputs.back()] = static_cast<int>(parts.size());
    }
    for (const output& in : it.node->inputs)
      if (graph_.type_of(in).reference && graph_[in.node].op == op::variable::name)
        variables.push_back(state::find_variable(services_, graph_[in.node]));
    for (int o = 0; o < it.outputs; ++o) value_of[it.first_output + o] = values++;
    parts.push_back(std::move(m));
  }
  for (std::size_t p = 0; p < parts.size(); ++p)
    for (int o = 0; o < parts[p].outputs; ++o) {
      const int slot = from_[members[p]].first_output + o;
      const bool leaves = read_outside_[static_cast<std::size_t>(slot)];
      parts[p].wanted.push_back(leaves || read_inside_[static_cast<std::size_t>(slot)]);
      if (leaves) results.push_back(slot);
    }
  std::vector<int> outputs;
  for (const int slot : results) outputs.push_back(value_of.at(slot));
  for (const auto& [value, reader] : last_reader)
    if (std::find(outputs.begin(), outputs.end(), value) == outputs.end())
      parts[static_cast<std::size_t>(reader)].ends.push_back(value);
  std::sort(variables.begin(), variables.end());
  variables.erase(std::unique(variables.begin(), variables.end()), variables.end());

  executable_item it{};
  it.kind = part_item::compute;
  it.is_segment = true;
  it.node = from_[members[0]].node;
  it.first_input = inputs;
  for (const int slot : sources) it.inputs.push_back({slot_of_[static_cast<std::size_t>(slot)], false});
  inputs += static_cast<int>(sources.size());
  it.first_output = slots;
  it.outputs = static_cast<int>(results.size());
  for (const int slot : results) slot_of_[static_cast<std::size_t>(slot)] = slots++;
  it.kernel = std::make_shared<segment>(std::move(parts), static_cast<int>(sources.size()), std::move(outputs),
                                        std::move(variables));
  items.push_back(std::move(it));
}

PINION_DECL void segments_of::connect() {
  for (auto& it : items) it.successors.clear(), it.predecessors = 0;
  for (std::size_t i = 0; i < from_.size(); ++i)
    for (const int next : from_[i].successors) {
      const int a = group_of_[i], b = group_of_[static_cast<std::size_t>(next)];
      if (a == b) continue;
      items[static_cast<std::size_t>(a)].successors.push_back(b);
      ++items[static_cast<std::size_t>(b)].predecessors;
    }
}

PINION_DECL std::size_t segments_of::producer_of(int slot) const {
  const auto behind = std::upper_bound(from_.begin(), from_.end(), slot,
                                       [](int s, const executable_item& it) { return s < it.first_output; });
  return static_cast<std::size_t>(behind - from_.begin()) - 1;  // items without outputs come before
}

}}}  // namespace pinion::v0::runtime
