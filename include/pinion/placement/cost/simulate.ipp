// Bodies of <pinion/placement/cost/simulate.hpp>.
#pragma once

#include <tuple>
#include <unordered_map>

#include <pinion/placement/cost/simulate.hpp>
#include <pinion/placement/late_receives.hpp>

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

// Simulates one step.
class step_simulation {
 public:
  step_simulation(const step_costs& costs, std::span<const std::int32_t> device, std::int64_t receive_ahead)
      : costs_(costs),
        device_(device),
        receive_ahead_(receive_ahead),
        memory_(costs.devices()),
        unlimited_(costs.devices()),
        received_(static_cast<std::size_t>(costs.devices())) {}

  simulated_step run() {
    run_nodes();
    for (position i = 0; i < costs_.nodes(); ++i) {
      hold(device_[i], 0, s_.makespan, static_cast<double>(costs_.state(i)));
      send(i);
    }
    for (int d = 0; d < costs_.devices(); ++d) {
      receive(d);
      s_.peak.push_back(memory_.peak(d));
      s_.unlimited_peak.push_back(unlimited_.peak(d));
    }
    return std::move(s_);
  }

 private:
  using position = step_costs::position;
  struct sent_value {
    std::size_t transfer;  // in s_.transfers
    position first_reader;
    double last_use;
  };

  void hold(int device, double from, double until, double bytes) {
    memory_.hold(device, from, until, bytes);
    unlimited_.hold(device, from, until, bytes);
  }

  void run_nodes() {
    s_.start.resize(costs_.nodes());
    s_.finish.resize(costs_.nodes());
    s_.busy.resize(static_cast<std::size_t>(costs_.devices()));
    s_.makespan = makespan_simulator(costs_).run(device_, [&](position i, double start, double finish) {
      s_.start[i] = start;
      s_.finish[i] = finish;
      s_.busy[static_cast<std::size_t>(device_[i])] += finish - start;
    });
  }
  // Sends the values of a node to the devices of its consumers, once to each, and holds them until their last use.
  void send(position i) {
    double last_use = s_.finish[i];
    sent_.clear();
    for (const auto& e : costs_.consumers(i))
      last_use = std::max(last_use, device_[e.node] == device_[i] ? s_.finish[e.node] : send(i, e));
    hold(device_[i], s_.start[i], last_use, static_cast<double>(costs_.bytes_out(i)));
    for (const auto& [key, value] : sent_)
      received_[static_cast<std::size_t>(s_.transfers[value.transfer].to_device)].push_back(value);
  }
  // Holds the values that come to a device.
  void receive(int device) {
    auto& all = received_[static_cast<std::size_t>(device)];
    std::sort(all.begin(), all.end(), [](const sent_value& a, const sent_value& b) {
      return std::tie(a.first_reader, a.transfer) < std::tie(b.first_reader, b.transfer);
    });
    std::vector<std::int64_t> bytes;
    for (const sent_value& v : all)
      bytes.push_back(static_cast<std::int64_t>(std::min<double>(s_.transfers[v.transfer].bytes, 0x1p62)));
    const std::vector<int> behind = late_receives(bytes, receive_ahead_);
    for (std::size_t i = 0; i < all.size(); ++i) {
      const simulated_transfer& t = s_.transfers[all[i].transfer];
      unlimited_.hold(device, t.sent, all[i].last_use, t.bytes);
      const double free = behind[i] < 0 ? 0 : s_.finish[all[static_cast<std::size_t>(behind[i])].first_reader];
      memory_.hold(device, std::clamp(free, t.sent, std::max(t.sent, s_.start[all[i].first_reader])), all[i].last_use,
                   t.bytes);
    }
  }
  // Returns when the value arrives.
  double send(position i, const step_costs::edge& e) {
    const int from = device_[i], to = device_[e.node];
    const double arrives = s_.finish[i] + costs_.transfer(from, to, e.bytes);
    const auto key = static_cast<std::uint64_t>(static_cast<std::uint32_t>(e.output)) << 32 | static_cast<unsigned>(to);
    const auto [at, fresh] = sent_.try_emplace(key, sent_value{s_.transfers.size(), e.node, arrives});
    if (fresh) s_.transfers.push_back({i, e.output, from, to, e.bytes, s_.finish[i], arrives});
    at->second.first_reader = std::min(at->second.first_reader, e.node);
    at->second.last_use = std::max(at->second.last_use, s_.finish[e.node]);
    return arrives;
  }

  const step_costs& costs_;
  const std::span<const std::int32_t> device_;
  const std::int64_t receive_ahead_;
  simulated_step s_;
  memory_sweep memory_, unlimited_;
  std::vector<std::vector<sent_value>> received_;       // by device
  std::unordered_map<std::uint64_t, sent_value> sent_;  // the values of one node, by output and device
};

}  // namespace detail

PINION_DECL simulated_step simulate(const step_costs& costs, std::span<const std::int32_t> device,
                                    std::int64_t receive_ahead) {
  return detail::step_simulation(costs, device, receive_ahead).run();
}

}}  // namespace pinion::v0
