// A step as it would run on devices that need not exist: how long, how busy, how much memory.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include <pinion/placement/cost/step_costs.hpp>

namespace pinion::inline v0 {

// A value that crosses between devices, once for each device that needs it.
struct simulated_transfer {
  std::uint32_t from = 0;  // position of its producer
  std::int32_t output = 0;
  int from_device = 0, to_device = 0;
  double bytes = 0, sent = 0, arrives = 0;
};

struct simulated_step {
  double makespan = 0;                // seconds until the last node is done
  std::vector<double> start, finish;  // by position
  std::vector<double> busy;           // by device
  std::vector<std::int64_t> peak;     // bytes by device: variables, and values until their last use
  std::vector<simulated_transfer> transfers;
};

// Each device runs one node at a time, in the order in which their inputs are there, ties in the order in which nodes
// were made. Transfers run beside it and do not slow each other. `device` is given by position.
PINION_DECL simulated_step simulate(const step_costs& costs, std::span<const std::int32_t> device);

// The makespan alone, for those who ask often.
class makespan_simulator {
 public:
  explicit makespan_simulator(const step_costs& costs)
      : costs_(costs),
        waiting_(costs.nodes()),
        ready_(costs.nodes()),
        busy_until_(static_cast<std::size_t>(costs.devices())) {}
  // Calls visit(position, start, finish) for each node, in the order in which they begin on their devices.
  template <class Visit>
  double run(std::span<const std::int32_t> device, const Visit& visit) {
    using entry = std::pair<double, step_costs::position>;
    heap_.clear();
    std::fill(busy_until_.begin(), busy_until_.end(), 0.0);
    const auto later = [](const entry& a, const entry& b) { return a > b; };
    for (step_costs::position i = 0; i < costs_.nodes(); ++i) {
      waiting_[i] = static_cast<std::uint32_t>(costs_.inputs(i).size());
      ready_[i] = 0;
      if (waiting_[i] == 0) heap_.emplace_back(0.0, i);
    }
    std::make_heap(heap_.begin(), heap_.end(), later);
    double makespan = 0;
    while (!heap_.empty()) {
      std::pop_heap(heap_.begin(), heap_.end(), later);
      const auto [at, i] = heap_.back();
      heap_.pop_back();
      double& free = busy_until_[static_cast<std::size_t>(device[i])];
      const double seconds = costs_.seconds(i, device[i]);
      const double start = seconds == 0 ? at : std::max(at, free), finish = start + seconds;
      if (seconds > 0) free = finish;
      visit(i, start, finish);
      makespan = std::max(makespan, finish);
      for (const auto& e : costs_.consumers(i)) {
        double& ready = ready_[e.node];
        ready = std::max(ready, finish + costs_.transfer(device[i], device[e.node], e.bytes));
        if (--waiting_[e.node] > 0) continue;
        heap_.emplace_back(ready, e.node);
        std::push_heap(heap_.begin(), heap_.end(), later);
      }
    }
    return makespan;
  }
  double operator()(std::span<const std::int32_t> device) {
    return run(device, [](auto, double, double) {});
  }

 private:
  const step_costs& costs_;
  std::vector<std::uint32_t> waiting_;
  std::vector<double> ready_, busy_until_;
  std::vector<std::pair<double, step_costs::position>> heap_;
};

#if PINION_DEFINE_GRAPH
namespace detail {

// How much memory each device needs at most.
class memory_sweep {
 public:
  explicit memory_sweep(int devices) : events_(static_cast<std::size_t>(devices)) {}
  void hold(int device, double from, double until, double bytes) {
    if (bytes <= 0) return;
    auto& mine = events_[static_cast<std::size_t>(device)];
    mine.emplace_back(from, bytes);
    mine.emplace_back(until, -bytes);
  }
  std::int64_t peak(int device) {
    auto& mine = events_[static_cast<std::size_t>(device)];
    // What begins at a moment is there before what ends then goes.
    std::sort(mine.begin(), mine.end(), [](const auto& a, const auto& b) {
      return a.first != b.first ? a.first < b.first : a.second > b.second;
    });
    double now = 0, most = 0;
    for (const auto& [when, bytes] : mine) most = std::max(most, now += bytes);
    return static_cast<std::int64_t>(std::min(most, 0x1p62));
  }

 private:
  std::vector<std::vector<std::pair<double, double>>> events_;
};

}  // namespace detail

PINION_DECL simulated_step simulate(const step_costs& costs, std::span<const std::int32_t> device) {
  simulated_step s;
  const auto n = costs.nodes();
  s.start.resize(n);
  s.finish.resize(n);
  s.busy.resize(static_cast<std::size_t>(costs.devices()));
  s.makespan = makespan_simulator(costs).run(device, [&](auto i, double start, double finish) {
    s.start[i] = start;
    s.finish[i] = finish;
    s.busy[static_cast<std::size_t>(device[i])] += finish - start;
  });
  detail::memory_sweep memory(costs.devices());
  const double end = s.makespan;
  std::unordered_map<std::uint64_t, std::pair<std::size_t, double>> sent;  // to (output, device): transfer, last use
  for (step_costs::position i = 0; i < n; ++i) {
    memory.hold(device[i], 0, end, static_cast<double>(costs.state(i)));
    double last_use = s.finish[i];
    sent.clear();
    for (const auto& e : costs.consumers(i)) {
      const int to = device[e.node];
      if (to == device[i]) {
        last_use = std::max(last_use, s.finish[e.node]);
        continue;
      }
      const double arrives = s.finish[i] + costs.transfer(device[i], to, e.bytes);
      const auto key =
          static_cast<std::uint64_t>(static_cast<std::uint32_t>(e.output)) << 32 | static_cast<unsigned>(to);
      const auto [at, fresh] = sent.try_emplace(key, s.transfers.size(), arrives);
      if (fresh) s.transfers.push_back({i, e.output, device[i], to, e.bytes, s.finish[i], arrives});
      at->second.second = std::max(at->second.second, s.finish[e.node]);
      last_use = std::max(last_use, arrives);
    }
    memory.hold(device[i], s.start[i], last_use, static_cast<double>(costs.bytes_out(i)));
    for (const auto& [key, use] : sent) {
      const simulated_transfer& t = s.transfers[use.first];
      memory.hold(t.to_device, t.sent, use.second, t.bytes);
    }
  }
  for (int d = 0; d < costs.devices(); ++d) s.peak.push_back(memory.peak(d));
  return s;
}
#endif

}  // namespace pinion::inline v0
