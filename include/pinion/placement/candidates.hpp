// Which devices may hold a group, the best first.
#pragma once

#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/placement/group_tables.hpp>
#include <pinion/placement/groups.hpp>

namespace pinion { inline namespace v0 {

// One answer, shared by the groups that ask for the same.
struct candidate_list {
  std::vector<int> devices;  // indices into problem.devices
  std::vector<bool> holds;   // by device
};

// Order: a function's caller first; the home task where neither job nor task is asked for; then by kernel priority,
// device type, the home task before others, and name, numbers in names counting as numbers. Source: TensorFlow,
// colocation_graph.cc and (since 2.0, for local devices before others) device_set.cc, but for the home task as the
// first of rules and the numbers. Refers to the problem and its groups; for one thread.
class placement_candidates {
 public:
  placement_candidates(const placement_problem& p, const placement_groups& groups);
  // Empty where no device can hold the group.
  const candidate_list& of(placement_groups::group g);

  // Is there a device for it, once type and index are given up?
  bool could_loosen(const group_demand& d) const { return !matching(loosened(d, false), d).empty(); }

 private:
  const candidate_list& find(const group_demand& d);
  device_spec loosened(const group_demand& d, bool resource_stays) const;
  std::vector<int> matching(const device_spec& request, const group_demand& d) const;
  const std::vector<int>& within(const device_spec& request) const;

  struct hash_demand {
    std::size_t operator()(const group_demand& d) const;
  };

  const placement_problem& p_;
  const placement_groups& groups_;
  std::vector<int> by_name_;  // all devices
  std::vector<int> rank_;     // of each among them
  std::map<std::pair<std::string, int>, std::vector<int>> by_task_;
  std::unordered_map<group_demand, candidate_list, hash_demand> lists_;
  group_demand last_demand_;
  const candidate_list* last_ = nullptr;
};

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/placement/candidates.ipp>
#endif
