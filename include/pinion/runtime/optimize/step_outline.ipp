// Bodies of <pinion/runtime/optimize/step_outline.hpp>.
#pragma once

#include <algorithm>
#include <utility>

#include <pinion/op/source/op.hpp>
#include <pinion/opkit/build.hpp>
#include <pinion/opkit/work_context.hpp>
#include <pinion/runtime/optimize/step_outline.hpp>

namespace pinion { inline namespace v0 { namespace runtime {

namespace detail {

// Runs the entries of a step in order and adds up what is in use.
class memory_sweep {
 public:
  // `Facts` tells what step_outline knows of a node.
  template <class Facts>
  memory_sweep(const step_entries& entries, const std::vector<output>& fetches, const Facts& facts_of) {
    for (const step_entry& e : entries) begin_.push_back(begin_.back() + facts_of(e.of).bytes.size());
    root_.resize(begin_.back());
    last_.assign(begin_.back(), -1);
    for (std::size_t i = 0; i < entries.size(); ++i) {
      const step_entry& e = entries[i];
      for (std::size_t k = begin_[i]; k < begin_[i + 1]; ++k) root_[k] = k;
      if (facts_of(e.of).hands_on && !e.inputs.empty() && begin_[i] < begin_[i + 1])
        root_[begin_[i]] = root(e.inputs[0]);
      for (std::size_t k = begin_[i]; k < begin_[i + 1]; ++k) last_[root_[k]] = static_cast<std::ptrdiff_t>(i);
      for (const output& in : e.inputs) last_[root(in)] = static_cast<std::ptrdiff_t>(i);
    }
    for (const output& o : fetches) last_[root(o)] = static_cast<std::ptrdiff_t>(entries.size());
  }

  template <class Facts>
  step_outline::need run(const step_entries& entries, std::vector<std::int64_t> in_use, const Facts& facts_of) const {
    step_outline::need most;
    for (std::size_t i = 0; i < entries.size(); ++i) {
      const auto& fact = facts_of(entries[i].of);
      if (fact.device < 0) continue;
      std::int64_t& now = in_use[static_cast<std::size_t>(fact.device)];
      for (std::size_t k = begin_[i]; k < begin_[i + 1]; ++k)
        if (root_[k] == k) now += fact.bytes[k - begin_[i]];
      std::vector<std::size_t> gone = ending(entries[i], i);
      if (const std::int64_t over = taken_over(entries, fact, gone, facts_of); now - over > most.bytes)
        most = {now - over, static_cast<node_id>(i)};
      for (const std::size_t k : gone) {
        const auto& from = facts_of(entries[entry_of(k)].of);
        if (from.device >= 0) in_use[static_cast<std::size_t>(from.device)] -= from.bytes[k - begin_[entry_of(k)]];
      }
    }
    return most;
  }

 private:
  std::size_t root(output o) const {
    return root_[begin_[static_cast<std::size_t>(o.node)] + static_cast<std::size_t>(o.index)];
  }
  std::size_t entry_of(std::size_t k) const {
    return static_cast<std::size_t>(std::upper_bound(begin_.begin(), begin_.end(), k) - begin_.begin()) - 1;
  }
  // The values that nobody needs behind an entry.
  std::vector<std::size_t> ending(const step_entry& e, std::size_t i) const {
    std::vector<std::size_t> all;
    for (const output& in : e.inputs) all.push_back(root(in));
    for (std::size_t k = begin_[i]; k < begin_[i + 1]; ++k) all.push_back(root_[k]);
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    std::erase_if(all, [&](std::size_t k) { return last_[k] != static_cast<std::ptrdiff_t>(i); });
    return all;
  }
  // An elementwise kernel writes into the memory of an input of the size of its output, if nobody else needs that.
  template <class Fact, class Facts>
  std::int64_t taken_over(const step_entries& entries, const Fact& fact, const std::vector<std::size_t>& gone,
                          const Facts& facts_of) const {
    if (!fact.takes_over || fact.bytes.empty()) return 0;
    const bool found = std::any_of(gone.begin(), gone.end(), [&](std::size_t k) {
      const auto& from = facts_of(entries[entry_of(k)].of);
      return &from != &fact && from.device == fact.device && from.bytes[k - begin_[entry_of(k)]] == fact.bytes[0];
    });
    return found ? fact.bytes[0] : 0;
  }

  std::vector<std::size_t> begin_{0};  // of the outputs of each entry, among all
  std::vector<std::size_t> root_;      // the output whose memory one shares, by outputs
  std::vector<std::ptrdiff_t> last_;   // the last entry that needs the memory of an output
};

}  // namespace detail

PINION_DECL step_outline::step_outline(const optimized_step& step, std::int64_t unknown_extent)
    : step_(step), g_(graph_view::of_settled(*step.graph)), facts_(static_cast<std::size_t>(step.graph->size())) {
  know_devices();
  for (node_id id = 0; id < size(); ++id) know(id, unknown_extent);
}

PINION_DECL void step_outline::know_devices() {
  const placement& placed = step_.placement;
  variables_.resize(placed.devices().size());
  for (std::size_t i = 0; i < placed.nodes().size(); ++i) {
    fact& f = facts_[static_cast<std::size_t>(placed.nodes()[i])];
    f.device = placed.device_index(i);
    f.group = placed.group(i);
  }
}

PINION_DECL void step_outline::know(node_id id, std::int64_t unknown_extent) {
  const node& n = g_[id];
  fact& f = facts_[static_cast<std::size_t>(id)];
  const definition& def = definition_of(n.op);
  const work_context sizes(g_, n, unknown_extent);
  const bool elsewhere = f.device < 0 || n.op == op::constant::name;
  for (const output_type& t : n.outputs) {
    const auto bytes = static_cast<std::int64_t>(std::min(sizes.bytes(t), 0x1p50));
    if (t.reference && f.device >= 0 && n.inputs.empty()) variables_[static_cast<std::size_t>(f.device)] += bytes;
    f.bytes.push_back(elsewhere || t.reference || t.resource ? 0 : bytes);
    unknown_ += f.bytes.back() > 0 && !t.shape.known();
  }
  f.hands_on = def.hands_on;
  f.takes_over = n.attrs.has("program");
  f.operations = def.hands_on || f.device < 0 ? 0 : def.work ? def.work(sizes) : sizes.elements();
  f.is_cheap = f.operations <= 32 * sizes.elements();
}

PINION_DECL step_entries step_outline::entries() const {
  step_entries all;
  for (node_id id = 0; id < size(); ++id) all.push_back({id, g_[id].inputs, {}, false});
  return all;
}

PINION_DECL step_outline::need step_outline::need_of(const step_entries& entries) const {
  const auto facts = [this](node_id id) -> const fact& { return of(id); };
  std::vector<node_id> place(facts_.size(), no_node);
  for (std::size_t i = 0; i < entries.size(); ++i)
    if (!entries[i].is_copy) place[static_cast<std::size_t>(entries[i].of)] = static_cast<node_id>(i);
  std::vector<output> fetches = step_.signature.fetches;
  for (output& o : fetches) o.node = place[static_cast<std::size_t>(o.node)];
  return detail::memory_sweep(entries, fetches, facts).run(entries, variables_, facts);
}

}}}  // namespace pinion::v0::runtime
