// Bodies of <pinion/placement/cost/simulate.hpp>.
#pragma once

#include <unordered_map>

#include <pinion/placement/cost/simulate.hpp>

namespace pinion { inline namespace v0 {

PINION_DECL makespan_simulator::makespan_simulator(const step_costs& costs)
    : costs_(costs),
      waiting_(costs.nodes()),
      ready_(costs.nodes()),
      busy_until_(static_cast<std::size_t>(costs.devices())) {}

PINION_DECL double makespan_simulator::operator()(std::span<const std::int32_t> device) {
  return run(device, [](auto, double, double) {});
}

namespace detail {

// Adds up how much memory each device needs at most.
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
    // At one moment, tensors that begin are counted before those that end are freed.
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

}}  // namespace pinion::v0
