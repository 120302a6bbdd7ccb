// Bodies of <pinion/runtime/optimize/fit_memory.hpp>.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <pinion/autodiff/remake.hpp>
#include <pinion/base/cancellable_work.hpp>
#include <pinion/placement/placement_tables.hpp>
#include <pinion/runtime/optimize/fit_memory.hpp>
#include <pinion/runtime/optimize/step_outline.hpp>

namespace pinion { inline namespace v0 { namespace runtime {

namespace detail {

// Which nodes are computed again.
struct stretches {
  std::vector<node_id> ends;  // the node behind each stretch, ascending
  int again = 0;              // the first stretches whose values are computed again
  bool only_cheap = false;
};

// A step with copies.
struct copied_step {
  step_entries entries;
  step_outline::need need;
  double operations = 0;   // of the copies
  std::int64_t bytes = 0;  // of values that are read from copies, instead of being kept
  int copies = 0;
};

// Adds the copies to a step that some stretches ask for.
class copying {
 public:
  copying(const step_outline& all, const stretches& which, node_id peak, const std::vector<bool>& repeatable)
      : all_(all), peak_(peak), remaker_(all.view(), parts(all, which), repeatable) {}

  copied_step run() {
    for (node_id id = 0; id < all_.size(); ++id) {
      step_entry e{id, all_.view()[id].inputs, {}, false};
      const bool late = id > peak_ && all_.runs(id);
      for (output& in : e.inputs) in = late && remaker_.remakes(in.node) ? again(in, id) : kept(in);
      place_.push_back(add(std::move(e)));
    }
    made_.need = all_.need_of(made_.entries);
    return std::move(made_);
  }

 private:
  static std::vector<int> parts(const step_outline& all, const stretches& which) {
    std::vector<int> part_of(static_cast<std::size_t>(all.size()), -1);
    node_id id = 0;
    for (int part = 0; part < which.again; ++part)
      for (; id < which.ends[static_cast<std::size_t>(part)]; ++id)
        if (all.runs(id) && (all.is_cheap(id) || !which.only_cheap)) part_of[static_cast<std::size_t>(id)] = part;
    return part_of;
  }
  output kept(output o) const { return {place_[static_cast<std::size_t>(o.node)], o.index}; }
  node_id add(step_entry e) {
    made_.entries.push_back(std::move(e));
    return static_cast<node_id>(made_.entries.size()) - 1;
  }
  output again(output o, node_id reader) {
    const auto copy = [this](node n, node_id of) {
      made_.operations += all_.operations(of);
      ++made_.copies;
      return add({of, std::move(n.inputs), std::move(n.control_inputs), true});
    };
    const node_id made = remaker_.copy_of(o.node, {[this](output in) { return kept(in); }, copy, before(reader)});
    if (read_.insert({o.node, o.index}).second) made_.bytes += all_.bytes(o);
    return {made, o.index};
  }
  // The entry that copies for a reader wait for: the last late one that it reads, such as a gradient, else the one
  // before.
  std::vector<node_id> before(node_id reader) const {
    node_id last = no_node;
    for (const output& in : all_.view()[reader].inputs)
      if (in.node > peak_ && all_.runs(in.node)) last = std::max(last, in.node);
    for (node_id id = reader - 1; last == no_node && id >= peak_; --id)
      if (all_.runs(id) && all_.device(id) == all_.device(reader)) last = id;
    return last == no_node ? std::vector<node_id>{} : std::vector<node_id>{place_[static_cast<std::size_t>(last)]};
  }

  const step_outline& all_;
  const node_id peak_;  // the node that runs where the step needs the most
  autodiff::remaker remaker_;
  std::vector<node_id> place_;  // the entry of each node
  std::set<std::pair<node_id, int>> read_;
  copied_step made_;
};

// Looks for the cheapest choice that fits.
class memory_search {
 public:
  memory_search(const step_outline& all, std::int64_t limit)
      : all_(all), limit_(limit), entries_(all.entries()), need_(all.need_of(entries_)) {}

  const step_outline::need& need() const { return need_; }
  // Requires: the step needs more than the limit.
  std::optional<copied_step> run() {
    know_crossings();
    repeatable_ = autodiff::repeatable_nodes(all_.view());
    for (const bool only_cheap : {true, false})
      for (const int count : {1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64}) {
        cancellable_work::check();
        stretches which{ends(count), 0, only_cheap};
        if (static_cast<int>(which.ends.size()) == count) try_all(which);
      }
    return std::move(best_);
  }

 private:
  // The bytes that cross behind each node before the peak, from it or earlier ones to later ones up to the peak; and
  // those that were made up to it.
  void know_crossings() {
    const auto n = static_cast<std::size_t>(need_.at);
    std::vector<std::pair<output, std::int64_t>> values;
    std::vector<std::int64_t> change(n + 2, 0);
    std::vector<node_id> last(n + 1, no_node);
    for (node_id id = 0; id <= need_.at; ++id)
      for (const output& in : entries_[static_cast<std::size_t>(id)].inputs)
        last[static_cast<std::size_t>(in.node)] = id;
    std::int64_t made = 0;
    for (node_id id = 0; id <= need_.at; ++id) {
      const auto at = static_cast<std::size_t>(id);
      std::int64_t bytes = 0;
      for (int k = 0; k < static_cast<int>(all_.view()[id].outputs.size()); ++k) bytes += all_.bytes({id, k});
      made_.push_back(made += bytes);
      if (last[at] == no_node) continue;
      change[at] += bytes;
      change[static_cast<std::size_t>(last[at])] -= bytes;
    }
    std::int64_t now = 0;
    for (std::size_t at = 0; at <= n; ++at) crossing_.push_back(now += change[at]);
  }
  // The ends of so many stretches of about as many bytes, each where the fewest bytes cross near by.
  std::vector<node_id> ends(int count) const {
    std::vector<node_id> all;
    const double whole = static_cast<double>(made_.back()), share = whole / count;
    const auto at = [&](double bytes) {
      return std::lower_bound(made_.begin(), made_.end(), static_cast<std::int64_t>(bytes)) - made_.begin();
    };
    for (int i = 1; i < count; ++i) {
      const auto first = crossing_.begin() + at((i - .5) * share), last = crossing_.begin() + at((i + .5) * share);
      const auto least = static_cast<node_id>(std::min_element(first, last) - crossing_.begin());
      if (all.empty() || least + 1 > all.back()) all.push_back(least + 1);
    }
    all.push_back(need_.at + 1);
    return all;
  }
  // The more stretches are computed again, the less memory is needed, but for the last one, whose values are wanted
  // soon: the fewest that fit are looked for by halves.
  void try_all(stretches which) {
    const auto fits = [&](int again) {
      which.again = again;
      copied_step made = copying(all_, which, need_.at, repeatable_).run();
      const bool is_small = made.need.bytes <= limit_;
      take(std::move(made));
      return is_small;
    };
    int few = 0, many = static_cast<int>(which.ends.size());
    const bool all_fit = fits(many), most_fit = many > 1 && fits(many - 1);
    if (!all_fit && !most_fit) return;
    if (most_fit) --many;
    for (int middle = many / 2; many - few > 1; middle = (few + many) / 2) (fits(middle) ? many : few) = middle;
  }
  void take(copied_step made) {
    if (made.copies == 0) return;
    const auto rank = [this](const copied_step& s) {
      const bool fits = s.need.bytes <= limit_;
      return std::tuple(!fits, fits ? s.operations : static_cast<double>(s.need.bytes));
    };
    if (!best_ || rank(made) < rank(*best_)) best_ = std::move(made);
  }

  const step_outline& all_;
  const std::int64_t limit_;
  const step_entries entries_;
  const step_outline::need need_;
  std::vector<bool> repeatable_;
  std::vector<std::int64_t> crossing_, made_;  // bytes, by node
  std::optional<copied_step> best_;
};

// Makes the graph of a step with copies.
class copied_graph {
 public:
  copied_graph(const optimized_step& from, const step_outline& all, const copied_step& made)
      : from_(from), all_(all), made_(made), place_(static_cast<std::size_t>(all.size()), no_node) {
    for (node_id i = 0; i < static_cast<node_id>(made.entries.size()); ++i)
      if (!entry(i).is_copy) place_[static_cast<std::size_t>(entry(i).of)] = i;
  }

  optimized_step run() {
    auto g = std::make_shared<graph>();
    auto placed = std::make_shared<placement_tables>();
    placed->devices = from_.placement.devices();
    for (node_id i = 0; i < static_cast<node_id>(made_.entries.size()); ++i) {
      g->adopt(node_of(entry(i)));
      if (!all_.runs(entry(i).of)) continue;
      placed->nodes.push_back(i);
      placed->device.push_back(all_.device(entry(i).of));
      placed->group.push_back(all_.group(entry(i).of));
    }
    return {std::move(g), placement(std::move(placed)), signature(), from_.fates};
  }

 private:
  const step_entry& entry(node_id i) const { return made_.entries[static_cast<std::size_t>(i)]; }
  node_id place(node_id of) const { return place_[static_cast<std::size_t>(of)]; }
  node node_of(const step_entry& e) const {
    node n = all_.view()[e.of];
    n.inputs = e.inputs;
    if (e.is_copy) {
      n.name = free_name(n.name + "/recompute");
      n.control_inputs = e.waits_for;
    } else {
      for (node_id& c : n.control_inputs) c = place(c);
    }
    return n;
  }
  // Copies that gradients made may have the name.
  std::string free_name(const std::string& wanted) const {
    std::string name = wanted;
    for (int i = 1; all_.view().id_of(name) != no_node; ++i) name = wanted + "_" + std::to_string(i);
    return name;
  }
  step_signature signature() const {
    step_signature s = from_.signature;
    for (auto* list : {&s.feeds, &s.fetches})
      for (output& o : *list) o.node = place(o.node);
    for (node_id& t : s.targets) t = place(t);
    return s;
  }

  const optimized_step& from_;
  const step_outline& all_;
  const copied_step& made_;
  std::vector<node_id> place_;  // the entry of each node
};

// `before` and `now` are the bytes that the step needed and needs.
inline std::string in_words(const step_outline& all, std::int64_t before, std::int64_t now, const copied_step* made,
                            std::int64_t limit) {
  std::string text = fmt::format("memory_limit of {} bytes: ", limit);
  if (made)
    text += fmt::format("{} nodes are computed again, for {:.3g} operations and {} bytes that are not kept; ",
                        made->copies, made->operations, made->bytes);
  text += fmt::format("a device needs {} bytes instead of {}", now, before);
  if (now > limit) text += ", which is more than the limit; a smaller batch would need less";
  if (all.unknown_values() > 0)
    text += fmt::format(". {} values have unknown extents, which count as the cost model says", all.unknown_values());
  return text;
}

inline std::int64_t bytes_needed(const optimized_step& step, std::int64_t unknown_extent) {
  const step_outline all(step, unknown_extent);
  return all.need_of(all.entries()).bytes;
}

}  // namespace detail

PINION_DECL fitted_step fit_memory(optimized_step step, std::int64_t limit, std::int64_t unknown_extent,
                                   const std::function<optimized_step()>& spared) {
  const std::int64_t before = detail::bytes_needed(step, unknown_extent);
  if (before <= limit) return {std::move(step)};
  step = spared();
  const step_outline all(step, unknown_extent);
  detail::memory_search search(all, limit);
  const std::int64_t without = search.need().bytes;
  std::optional<detail::copied_step> made;
  if (without > limit) made = search.run();
  if (made && made->need.bytes >= without) made.reset();
  const std::int64_t now = made ? made->need.bytes : without;
  const std::string told = detail::in_words(all, before, now, made ? &*made : nullptr, limit);
  if (!made) return {std::move(step), told, now <= limit};
  return {detail::copied_graph(step, all, *made).run(), told, now <= limit};
}

}}}  // namespace pinion::v0::runtime
