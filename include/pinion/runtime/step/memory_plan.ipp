// Bodies of <pinion/runtime/step/memory_plan.hpp>.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <queue>
#include <utility>

#include <pinion/runtime/step/memory_plan.hpp>

namespace pinion { inline namespace v0 { namespace runtime {

namespace detail {

inline std::size_t room_of(const block_life& b) {
  return (b.bytes + memory_plan::alignment - 1) / memory_plan::alignment * memory_plan::alignment;
}

// Chooses the offsets of one plan.
class memory_planner {
 public:
  explicit memory_planner(std::span<const block_life> blocks) : blocks_(blocks) { p_.offsets.resize(blocks.size()); }

  memory_plan plan() {
    std::vector<int> order(blocks_.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [this](int a, int b) { return life(a).begin < life(b).begin; });
    const std::size_t limit = least_by_size();
    const auto rest = std::stable_partition(order.begin(), order.end(), [&](int i) { return room(i) > limit; });
    const std::span<int> large(order.begin(), rest);
    place_first(large, [this](int i) { return room(i); });
    memory_plan by_size = p_;
    place_first(large, [this](int i) { return room(i) * static_cast<std::size_t>(life(i).end - life(i).begin); });
    if (by_size.bytes <= p_.bytes) p_ = std::move(by_size);
    place_beside({rest, order.end()});
    p_.live = most_live();
    return std::move(p_);
  }

 private:
  static constexpr std::size_t most_by_size = 1024;

  const block_life& life(int i) const { return blocks_[static_cast<std::size_t>(i)]; }
  std::size_t& offset(int i) { return p_.offsets[static_cast<std::size_t>(i)]; }
  std::size_t room(int i) const { return room_of(life(i)); }
  bool meet(int a, int b) const { return life(a).begin < life(b).end && life(b).begin < life(a).end; }

  // Larger blocks than this are placed one by one.
  std::size_t least_by_size() const {
    if (blocks_.size() <= most_by_size) return 0;
    std::vector<std::size_t> sizes;
    for (std::size_t i = 0; i < blocks_.size(); ++i) sizes.push_back(room(static_cast<int>(i)));
    std::nth_element(sizes.begin(), sizes.begin() + most_by_size, sizes.end(), std::greater<>());
    return sizes[most_by_size];
  }

  // Places blocks one by one, the greatest by some measure first.
  template <class Measure>
  void place_first(std::span<int> blocks, Measure measure) {
    std::stable_sort(blocks.begin(), blocks.end(), [&](int a, int b) { return measure(a) > measure(b); });
    placed_.clear();
    p_.bytes = 0;
    for (const int i : blocks) place_in_gap(i);
  }

  // Places a block in the smallest gap between those that are placed and live beside it, else behind them.
  void place_in_gap(int i) {
    std::size_t free_from = 0, best = 0, best_gap = 0;
    bool found = false;
    for (const int other : placed_) {
      if (!meet(i, other)) continue;
      const std::size_t gap = offset(other) > free_from ? offset(other) - free_from : 0;
      if (gap >= room(i) && (!found || gap < best_gap)) best = free_from, best_gap = gap, found = true;
      free_from = std::max(free_from, offset(other) + room(other));
    }
    offset(i) = found ? best : free_from;
    const auto behind = [&](std::size_t at, int other) { return at < offset(other); };
    placed_.insert(std::upper_bound(placed_.begin(), placed_.end(), offset(i), behind), i);
    p_.bytes = std::max(p_.bytes, offset(i) + room(i));
  }

  // Places blocks behind all others; a block takes the place of one of its size that is no longer in use.
  void place_beside(std::span<const int> blocks) {
    std::map<std::size_t, std::vector<std::size_t>> idle;  // offsets by size
    std::priority_queue<std::pair<int, int>, std::vector<std::pair<int, int>>, std::greater<>> ends;
    for (const int i : blocks) {
      for (; !ends.empty() && ends.top().first <= life(i).begin; ends.pop())
        idle[room(ends.top().second)].push_back(offset(ends.top().second));
      auto& places = idle[room(i)];
      if (places.empty()) {
        places.push_back(p_.bytes);
        p_.bytes += room(i);
      }
      offset(i) = places.back();
      places.pop_back();
      ends.emplace(life(i).end, i);
    }
  }

  std::size_t most_live() const {
    std::map<int, std::ptrdiff_t> change;  // by moment
    for (const block_life& b : blocks_) {
      change[b.begin] += static_cast<std::ptrdiff_t>(b.bytes);
      change[b.end] -= static_cast<std::ptrdiff_t>(b.bytes);
    }
    std::ptrdiff_t now = 0, most = 0;
    for (const auto& [moment, bytes] : change) most = std::max(most, now += bytes);
    return static_cast<std::size_t>(most);
  }

  std::span<const block_life> blocks_;
  std::vector<int> placed_;  // by offset
  memory_plan p_;
};

}  // namespace detail

PINION_DECL memory_plan plan_memory(std::span<const block_life> blocks) {
  return detail::memory_planner(blocks).plan();
}

// Walks through the blocks in their order and keeps, for every stretch of memory, the last block that had it.
PINION_DECL block_lists formers_of(std::span<const block_life> blocks, const memory_plan& plan) {
  struct stretch {
    std::size_t end;
    int block;
  };
  std::map<std::size_t, stretch> last;  // by offset
  block_lists formers;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    formers.first.push_back(static_cast<int>(formers.all.size()));
    const std::size_t from = plan.offsets[i], to = from + detail::room_of(blocks[i]);
    if (from == to) continue;
    auto at = last.lower_bound(from);
    if (at != last.begin() && std::prev(at)->second.end > from) --at;
    while (at != last.end() && at->first < to) {
      const auto [begin, before] = *at;
      formers.all.push_back(before.block);
      at = last.erase(at);
      if (begin < from) last.emplace(begin, stretch{from, before.block});
      if (before.end > to) at = last.emplace(to, before).first;
    }
    last.emplace(from, stretch{to, static_cast<int>(i)});
  }
  formers.first.push_back(static_cast<int>(formers.all.size()));
  return formers;
}

PINION_DECL block_lists neighbours_of(std::span<const block_life> blocks, const memory_plan& plan) {
  const auto behind = [&](std::size_t i) { return plan.offsets[i] + blocks[i].bytes; };
  const auto meet = [&](std::size_t i, std::size_t j) {
    return std::max(plan.offsets[i], plan.offsets[j]) < std::min(behind(i), behind(j));
  };
  block_lists neighbours;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    neighbours.first.push_back(static_cast<int>(neighbours.all.size()));
    for (std::size_t j = 0; j < blocks.size(); ++j)
      if (j != i && meet(i, j)) neighbours.all.push_back(static_cast<int>(j));
  }
  neighbours.first.push_back(static_cast<int>(neighbours.all.size()));
  return neighbours;
}

}}}  // namespace pinion::v0::runtime
