// Bodies of <pinion/placement/cost/earliest_finish.hpp>.
#pragma once

#include <algorithm>
#include <limits>

#include <pinion/placement/cost/earliest_finish.hpp>

namespace pinion { inline namespace v0 {

namespace detail {
// The length up to which the devices of a candidate list are looked at one by one.
inline constexpr std::size_t short_list = 16;
}  // namespace detail

PINION_DECL void earliest_finish::run(list_order order) {
  gaps_ = order == list_order::upward_rank;
  begin();
  if (gaps_)
    take_by_rank();
  else
    take_by_time();
  for (const group g : work_.left()) settle(g, work_.candidates(g).front());  // sources that nobody reads
}

inline void earliest_finish::begin() {
  const position n = costs_.nodes();
  const auto devices = static_cast<std::size_t>(costs_.devices());
  finish_.assign(n, 0);
  free_at_.assign(devices, 0);
  used_.assign(devices, 0);
  unread_.resize(n);
  if (gaps_) slots_.resize(devices);
  for (position i = 0; i < n; ++i) {
    unread_[i] = static_cast<std::uint32_t>(costs_.consumers(i).size());
    if (work_.device_of_node(i) >= 0)
      used_[static_cast<std::size_t>(work_.device_of_node(i))] += static_cast<double>(costs_.state(i));
  }
}

inline void earliest_finish::take_by_rank() {
  const auto rank = upward_ranks();
  std::vector<position> sorted(costs_.nodes());
  std::iota(sorted.begin(), sorted.end(), position{0});
  std::stable_sort(sorted.begin(), sorted.end(), [&](position a, position b) { return rank[a] > rank[b]; });
  for (const position i : sorted) take(i);
}

inline void earliest_finish::take_by_time() {
  std::vector<std::uint32_t> waiting(costs_.nodes());
  std::vector<double> ready(costs_.nodes(), 0);
  std::priority_queue<std::pair<double, position>, std::vector<std::pair<double, position>>, std::greater<>> next;
  for (position i = 0; i < costs_.nodes(); ++i) {
    waiting[i] = static_cast<std::uint32_t>(costs_.inputs(i).size());
    if (waiting[i] == 0) next.emplace(0.0, i);
  }
  while (!next.empty()) {
    const position i = next.top().second;
    next.pop();
    take(i);
    for (const auto& e : costs_.consumers(i)) {
      ready[e.node] = std::max(ready[e.node], finish_[i]);
      if (--waiting[e.node] == 0) next.emplace(ready[e.node], e.node);
    }
  }
}

// The longest way from a node to the end, in mean seconds. Source: Topcuoglu, Hariri, Wu, "Performance-effective and
// low-complexity task scheduling for heterogeneous computing", IEEE TPDS 13(3), 2002.
inline std::vector<double> earliest_finish::upward_ranks() const {
  std::vector<double> rank(costs_.nodes());
  for (position i = costs_.nodes(); i-- > 0;) {  // edges lead from earlier nodes to later ones
    double rest = 0;
    for (const auto& e : costs_.consumers(i)) rest = std::max(rest, costs_.mean_transfer(e.bytes) + rank[e.node]);
    rank[i] = rest + costs_.mean_seconds(i) + 1e-15;  // so that inputs always come first
  }
  return rank;
}

inline void earliest_finish::take(position i) {
  const group g = work_.groups().of(i);
  int device = work_.device_of(g);
  if (costs_.is_free_source(i) && device < 0) return;  // its first consumer decides
  if (device < 0) device = choose(i);
  settle_sources(i, device);
  if (work_.device_of(g) < 0) settle(g, device);
  const double seconds = costs_.seconds(i, device), ready = arrival(i, device);
  const double start = seconds == 0 ? ready : begin_at(device, ready, seconds);
  finish_[i] = start + seconds;
  if (seconds > 0) occupy(device, start, finish_[i]);
  used_[static_cast<std::size_t>(device)] += static_cast<double>(costs_.bytes_out(i));
  release_inputs(i);
}

inline int earliest_finish::choose(position i) {
  const auto candidates = work_.candidates(work_.groups().of(i));
  int best = -1;
  double when = std::numeric_limits<double>::infinity();
  if (candidates.size() <= detail::short_list) {
    for (const int d : candidates) consider(i, d, best, when);
  } else {
    // No device is earlier than the best of these: those of an input, those beside it, and those that are free first.
    for (const auto& e : costs_.inputs(i)) {
      const int at = work_.device_of_node(e.node);
      if (at < 0) continue;
      for (const int d : costs_.devices_of_task(costs_.task_of(at)))
        if (work_.may_hold(work_.groups().of(i), d)) consider(i, d, best, when);
    }
    consider_idle(i, candidates, best, when);
  }
  return best >= 0 ? best : candidates.front();
}

inline void earliest_finish::consider(position i, int device, int& best, double& when) const {
  const double done = finish_on(i, device);
  if (done >= when || !fits(i, device)) return;
  best = device;
  when = done;
}

// Considers, of each class, the device that is free first and has room.
inline void earliest_finish::consider_idle(position i, std::span<const int> candidates, int& best, double& when) {
  auto& heaps = idle_[candidates.data()];
  if (heaps.empty()) {
    heaps.resize(static_cast<std::size_t>(costs_.classes()));
    for (const int d : candidates)
      heaps[static_cast<std::size_t>(costs_.class_of(d))].emplace(free_at_[static_cast<std::size_t>(d)], d);
  }
  for (idle_heap& heap : heaps) {
    std::vector<std::pair<double, int>> full;  // no room on these
    while (!heap.empty()) {
      const auto [key, d] = heap.top();
      const double actual = free_at_[static_cast<std::size_t>(d)];
      if (actual > key) {
        heap.pop();
        heap.emplace(actual, d);
        continue;
      }
      if (fits(i, d)) {
        consider(i, d, best, when);
        break;
      }
      full.push_back(heap.top());
      heap.pop();
    }
    for (const auto& entry : full) heap.push(entry);
  }
}

inline double earliest_finish::finish_on(position i, int device) const {
  const double seconds = costs_.seconds(i, device), ready = arrival(i, device);
  return seconds == 0 ? ready : begin_at(device, ready, seconds) + seconds;
}

// The time when all inputs are on a device. A source without a device comes along, if it may.
inline double earliest_finish::arrival(position i, int device) const {
  double ready = 0;
  for (const auto& e : costs_.inputs(i)) {
    int from = work_.device_of_node(e.node);
    if (from < 0)
      from = work_.may_hold(work_.groups().of(e.node), device) ? device
                                                               : work_.candidates(work_.groups().of(e.node)).front();
    ready = std::max(ready, finish_[e.node] + costs_.transfer(from, device, e.bytes));
  }
  return ready;
}

inline double earliest_finish::begin_at(int device, double ready, double seconds) const {
  if (!gaps_) return std::max(ready, free_at_[static_cast<std::size_t>(device)]);
  const auto& mine = slots_[static_cast<std::size_t>(device)];
  auto next = std::upper_bound(mine.begin(), mine.end(), ready, [](double t, const slot& s) { return t < s.finish; });
  double from = ready;
  for (; next != mine.end() && next->start < from + seconds; ++next) from = std::max(from, next->finish);
  return from;
}

inline void earliest_finish::occupy(int device, double start, double finish) {
  double& free = free_at_[static_cast<std::size_t>(device)];
  free = std::max(free, finish);
  if (!gaps_) return;
  auto& mine = slots_[static_cast<std::size_t>(device)];
  const auto at =
      std::upper_bound(mine.begin(), mine.end(), start, [](double t, const slot& s) { return t < s.start; });
  mine.insert(at, {start, finish});
}

inline bool earliest_finish::fits(position i, int device) const {
  const auto limit = costs_.memory_limit(device);
  if (limit <= 0) return true;
  double bytes = used_[static_cast<std::size_t>(device)] + static_cast<double>(costs_.bytes_out(i));
  const auto add_state = [&](group g) {
    for (const position m : work_.groups().members(g)) bytes += static_cast<double>(costs_.state(m));
  };
  const group own = work_.groups().of(i);
  if (work_.device_of(own) < 0) add_state(own);
  for (const auto& e : costs_.inputs(i))
    if (const group g = work_.groups().of(e.node); g != own && work_.device_of(g) < 0 && work_.may_hold(g, device))
      add_state(g);
  return bytes <= static_cast<double>(limit);
}

inline void earliest_finish::settle_sources(position i, int device) {
  for (const auto& e : costs_.inputs(i)) {
    const group g = work_.groups().of(e.node);
    if (work_.device_of(g) < 0) settle(g, work_.may_hold(g, device) ? device : work_.candidates(g).front());
  }
}

inline void earliest_finish::settle(group g, int device) {
  work_.put(g, device, gaps_ ? "HEFT: done first there" : "done first there");
  for (const position m : work_.groups().members(g))
    used_[static_cast<std::size_t>(device)] += static_cast<double>(costs_.state(m));
}

// Frees the values whose last consumer was taken.
inline void earliest_finish::release_inputs(position i) {
  for (const auto& e : costs_.inputs(i))
    if (--unread_[e.node] == 0 && work_.device_of_node(e.node) >= 0 && !costs_.is_free_source(e.node))
      used_[static_cast<std::size_t>(work_.device_of_node(e.node))] -= static_cast<double>(costs_.bytes_out(e.node));
}

}}  // namespace pinion::v0
