// A simulated step: its makespan, the load of each device, and the memory that it needs.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/placement/cost/step_costs.hpp>

namespace pinion { inline namespace v0 {

// The transfer of a value to one of the devices that need it.
struct simulated_transfer {
  std::uint32_t from = 0;  // position of its producer
  std::int32_t output = 0;
  int from_device = 0, to_device = 0;
  double bytes = 0, sent = 0, arrives = 0;
};

struct simulated_step {
  double makespan = 0;                       // seconds until the last node is done
  std::vector<double> start, finish;         // by position
  std::vector<double> busy;                  // by device
  std::vector<std::int64_t> peak;            // bytes by device: variables, and values until their last use
  std::vector<std::int64_t> unlimited_peak;  // the same, if values came as soon as they are sent
  std::vector<simulated_transfer> transfers;
};

// Simulates a step whose nodes are on the devices that are given by position. Each device runs one node at a time, in
// the order in which inputs arrive, ties in the order in which nodes were made. Transfers overlap with work and do not
// slow each other. A value that is received late, since more than `receive_ahead` bytes wait for their readers, still
// comes in time for its own.
simulated_step simulate(const step_costs& costs, std::span<const std::int32_t> device, std::int64_t receive_ahead = 0);

// Computes the makespan alone, for callers that ask often. Reuses its memory between calls; for one thread.
class makespan_simulator {
 public:
  explicit makespan_simulator(const step_costs& costs);
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
  double operator()(std::span<const std::int32_t> device);

 private:
  const step_costs& costs_;
  std::vector<std::uint32_t> waiting_;
  std::vector<double> ready_, busy_until_;
  std::vector<std::pair<double, step_costs::position>> heap_;
};

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/placement/cost/simulate.ipp>
#endif
