// Bodies of <pinion/runtime/step/lane_plan.hpp>.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <queue>
#include <string>
#include <utility>

#include <pinion/opkit/registry.hpp>
#include <pinion/runtime/step/lane_plan.hpp>
#include <pinion/state/key.hpp>

namespace pinion { inline namespace v0 { namespace runtime {

namespace detail {

// The uses of the states of a partition, item after item, and the edges that keep them in order.
class state_order {
 public:
  explicit state_order(const executable& e) : e_(e), read_in_(static_cast<std::size_t>(e.slots), nullptr) {
    for (std::size_t i = 0; i < e.items.size(); ++i) add(static_cast<int>(i), e.items[i]);
  }
  std::vector<std::pair<int, int>> edges;

 private:
  struct uses {
    int written_by = -1;
    std::vector<int> read_by;  // since then
  };

  void add(int i, const executable::item& it) {
    for (const auto& in : it.inputs)
      if (uses* const held = read_in_[static_cast<std::size_t>(in.slot)]) held->read_by.push_back(i);
    if (it.kind != part_item::compute) return;
    const int states = states_of(definition_of(it.node->op), *it.node);
    for (std::size_t k = 0; k < it.node->inputs.size(); ++k) {
      const output from = it.node->inputs[k];
      const output_type& type = e_.graph.type_of(from);
      if (!type.reference && !type.resource) continue;
      uses& state = states_[state::key_of(e_.graph[from.node])];
      if (static_cast<int>(k) < states || type.resource)
        write(i, state);
      else
        read(i, it, state);
    }
  }
  void read(int i, const executable::item& it, uses& state) {
    if (state.written_by >= 0 && state.written_by != i) edges.emplace_back(state.written_by, i);
    state.read_by.push_back(i);
    for (int o = 0; o < it.outputs; ++o) read_in_[static_cast<std::size_t>(it.first_output + o)] = &state;
  }
  void write(int i, uses& state) {
    if (state.written_by >= 0 && state.written_by != i) edges.emplace_back(state.written_by, i);
    for (const int reader : state.read_by)
      if (reader != i) edges.emplace_back(reader, i);
    state = {i, {}};
  }

  const executable& e_;
  std::map<std::pair<std::string, std::string>, uses> states_;
  std::vector<uses*> read_in_;  // per slot: the state whose value it holds
};

}  // namespace detail

PINION_DECL lane_plan::lane_plan(const executable& e, std::span<const double> times)
    : seconds(times.begin(), times.end()) {
  lay_out(e, detail::state_order(e).edges);
  rank();
}

PINION_DECL void lane_plan::lay_out(const executable& e, const edges& more) {
  predecessors.assign(e.items.size(), 0);
  first_after.assign(e.items.size() + 1, 0);
  const auto each_edge = [&](auto use) {
    for (std::size_t i = 0; i < e.items.size(); ++i)
      for (const int next : e.items[i].successors) use(static_cast<int>(i), next);
    for (const auto& [from, to] : more) use(from, to);
  };
  each_edge([&](int from, int to) {
    ++first_after[static_cast<std::size_t>(from) + 1];
    ++predecessors[static_cast<std::size_t>(to)];
  });
  std::partial_sum(first_after.begin(), first_after.end(), first_after.begin());
  after.resize(static_cast<std::size_t>(first_after.back()));
  std::vector<int> at(first_after.begin(), first_after.end() - 1);
  each_edge([&](int from, int to) { after[static_cast<std::size_t>(at[static_cast<std::size_t>(from)]++)] = to; });
}

// An item is the more urgent the longer the way from its beginning to the end of the step.
PINION_DECL void lane_plan::rank() {
  std::vector<double> way(seconds);
  for (std::size_t i = way.size(); i-- > 0;) {
    double rest = 0;
    for (const int next : successors(static_cast<int>(i))) rest = std::max(rest, way[static_cast<std::size_t>(next)]);
    way[i] += rest;
  }
  item_at.resize(way.size());
  std::iota(item_at.begin(), item_at.end(), 0);
  std::stable_sort(item_at.begin(), item_at.end(),
                   [&](int a, int b) { return way[static_cast<std::size_t>(a)] > way[static_cast<std::size_t>(b)]; });
  place.resize(way.size());
  for (std::size_t p = 0; p < item_at.size(); ++p) place[static_cast<std::size_t>(item_at[p])] = static_cast<int>(p);
}

PINION_DECL double lane_plan::time_on(int threads) const {
  using first = std::greater<>;
  std::priority_queue<int, std::vector<int>, first> ready;  // places
  using end = std::pair<double, int>;                       // of an item
  std::priority_queue<end, std::vector<end>, first> running;
  std::vector<int> missing = predecessors;
  for (std::size_t i = 0; i < missing.size(); ++i)
    if (missing[i] == 0) ready.push(place[i]);
  double now = 0, of_brief_ones = 0;
  while (!ready.empty() || !running.empty()) {
    for (; !ready.empty() && static_cast<int>(running.size()) < threads; ready.pop()) {
      const int item = item_at[static_cast<std::size_t>(ready.top())];
      const double takes = seconds[static_cast<std::size_t>(item)];
      running.emplace(brief(item) ? now : now + takes, item);
      if (brief(item)) of_brief_ones += takes;
    }
    const auto [then, ended] = running.top();
    running.pop();
    now = then;
    for (const int next : successors(ended))
      if (--missing[static_cast<std::size_t>(next)] == 0) ready.push(place[static_cast<std::size_t>(next)]);
  }
  return now + of_brief_ones;
}

}}}  // namespace pinion::v0::runtime
