// The candidates of a group: the devices that may hold it, the best first.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/placement/group_tables.hpp>
#include <pinion/placement/groups.hpp>

namespace pinion { inline namespace v0 {

// The candidates of all groups with one demand. Devices are indices into problem.devices.
struct candidate_list {
  std::vector<int> devices;
  std::vector<bool> holds;   // by device
  std::vector<int> refused;  // devices that the request allows, but where a member has no kernel; ascending
  std::uint32_t number = 0;  // in placement_candidates::lists()

  bool may_hold(int device) const {
    return device >= 0 && static_cast<std::size_t>(device) < holds.size() && holds[static_cast<std::size_t>(device)];
  }
};

// Devices are ordered by these rules, the first of which outweighs the others: the device of a function's caller; the
// home task, where neither job nor task is asked for; kernel priority; device type; the home task; name, in which
// numbers count as numbers. Source: TensorFlow, colocation_graph.cc and (since 2.0, for local devices before others)
// device_set.cc, except for the second rule and the numbers. Refers to the problem and its groups; for one thread.
class placement_candidates {
 public:
  placement_candidates(const placement_problem& p, const placement_groups& groups);
  // A list without devices where none can hold the group. Keeps its address.
  const candidate_list& of(placement_groups::group g);
  // Every list that of() made, in the order of their numbers.
  std::span<const candidate_list* const> lists() const { return numbered_; }

  // Would a device meet the demand, once type and index are given up?
  bool could_loosen(const group_demand& d) const { return !search(loosened(d, false), d).devices.empty(); }

 private:
  struct found {
    std::vector<int> devices, refused;
  };
  const candidate_list& find(const group_demand& d);
  device_spec loosened(const group_demand& d, bool resource_stays) const;
  found search(const device_spec& request, const group_demand& d) const;
  const std::vector<int>& within(const device_spec& request) const;

  struct hash_demand {
    std::size_t operator()(const group_demand& d) const;
  };

  const placement_problem& p_;
  const placement_groups& groups_;
  std::vector<int> by_name_;  // all devices, in order
  std::vector<int> rank_;     // of each device, in by_name_
  std::map<std::pair<std::string, int>, std::vector<int>> by_task_;
  std::unordered_map<group_demand, candidate_list, hash_demand> lists_;
  std::vector<const candidate_list*> numbered_;
  group_demand last_demand_;
  const candidate_list* last_ = nullptr;
};

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/placement/candidates.ipp>
#endif
