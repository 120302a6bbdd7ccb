// List scheduling, the common part of the white paper's placer and of HEFT: nodes are taken one by one, and each group
// goes to the device where its first node would be done first.
#pragma once

#include <cstdint>
#include <functional>
#include <queue>
#include <unordered_map>
#include <utility>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/placement/cost/step_costs.hpp>
#include <pinion/placement/placing.hpp>

namespace pinion { inline namespace v0 {

// The order in which nodes are taken, and whether a node may fill a gap before others that were taken earlier.
enum class list_order {
  simulated_time,  // as they would become ready: TensorFlow's white paper, section 3.2.1
  upward_rank,     // the longest way to the end first, into gaps: HEFT
};

// Sources that take no time (constants, variables and their reads) wait for their first consumer and go where it goes,
// if they may: TensorFlow's white paper starts with them, which would put all of them on one device. Ties go to the
// first candidate. Device memory is a hard limit on variables and on values that are not consumed yet. Refers to the
// costs and the placing; for one thread.
class earliest_finish {
 public:
  using position = step_costs::position;
  using group = placing::group;

  earliest_finish(const step_costs& costs, placing& work) : costs_(costs), work_(work) {}
  // Gives a device to every group that has none; a group that fits into no memory goes to one of its candidates.
  void run(list_order order);

 private:
  struct slot {
    double start, finish;
  };
  // Devices of one class, by the time when they are free. A key may be too early; choosing mends it.
  using idle_heap = std::priority_queue<std::pair<double, int>, std::vector<std::pair<double, int>>, std::greater<>>;

  void begin();
  void take_by_rank();
  void take_by_time();
  void take(position i);
  int choose(position i);
  double finish_on(position i, int device) const;
  double arrival(position i, int device) const;
  double begin_at(int device, double ready, double seconds) const;
  void occupy(int device, double start, double finish);
  void consider(position i, int device, int& best, double& when) const;
  void consider_idle(position i, std::span<const int> candidates, int& best, double& when);
  bool fits(position i, int device) const;
  void settle_sources(position i, int device);
  void settle(group g, int device);
  void release_inputs(position i);
  std::vector<double> upward_ranks() const;

  const step_costs& costs_;
  placing& work_;
  bool gaps_ = false;
  std::vector<double> finish_, free_at_;
  std::vector<double> used_;  // bytes, by device
  std::vector<std::uint32_t> unread_;
  std::vector<std::vector<slot>> slots_;                         // by device, in order; with gaps only
  std::unordered_map<const int*, std::vector<idle_heap>> idle_;  // by candidate list, then by class
};

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/placement/cost/earliest_finish.ipp>
#endif
