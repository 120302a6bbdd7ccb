// Nodes that must stand together, and what each group of them asks for.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/placement/kernel_pool.hpp>
#include <pinion/placement/problem.hpp>
#include <pinion/placement/request_pool.hpp>

namespace pinion::inline v0 {

// What the members of a group have in common. Devices are numbers of a request_pool, kernels of a kernel_pool.
struct group_demand {
  request_pool::id assigned = request_pool::nothing;  // the device of an earlier run; never given up
  request_pool::id resource = request_pool::nothing;  // asked for by who makes a reference or resource; given up last
  request_pool::id requested = request_pool::nothing;
  kernel_pool::id kernels = kernel_pool::none;
  std::uint64_t needs = 0;   // those of its ops that some device lacks, as bits: placement_groups::missing_on()
  bool keeps_state = false;  // `assigned` is of a stateful member
  friend bool operator==(const group_demand&, const group_demand&) = default;
};

namespace detail {
class grouping;
}

// Groups of the nodes of a problem, made by class grouping. Nodes are told by their position in problem.nodes, groups
// by numbers in the order of their first members. Made once; refers to the problem. Throws, naming the nodes, where two
// that must stand together cannot.
class placement_groups {
 public:
  using position = std::uint32_t;
  using group = std::uint32_t;
  static constexpr position absent = ~position{0};

  explicit placement_groups(const placement_problem& p);

  group size() const { return static_cast<group>(demands_.size()); }
  group of(position i) const { return group_[i]; }
  std::span<const position> members(group g) const { return {members_.data() + begin_[g], begin_[g + 1] - begin_[g]}; }
  const group_demand& demand(group g) const { return demands_[g]; }
  // Where a node stands in problem.nodes; `absent` for one that is not there.
  position position_of(node_id id) const { return position_[static_cast<std::size_t>(id)]; }
  const node& at(position i) const { return p_.graph[p_.nodes[i]]; }
  const op_facts& facts(position i) const { return *facts_[i]; }
  // The ops that a device lacks, as bits of group_demand::needs.
  std::uint64_t missing_on(const device_info& d) const;
  // What was given up of the wishes of some nodes.
  const std::map<position, std::string>& dropped() const { return dropped_; }

  // The op outside the problem whose guard decided for a resource that asks for nothing itself; no_node for none.
  node_id asked_outside(position i) const;

  const request_pool& requests() const { return requests_; }
  const kernel_pool& kernels() const { return kernels_; }

 private:
  friend class detail::grouping;

  std::uint64_t bit_of(std::string_view op) const;

  const placement_problem& p_;
  request_pool requests_;
  kernel_pool kernels_;
  std::vector<std::string> rare_;   // ops that some device lacks
  std::vector<position> position_;  // by node id
  std::vector<const op_facts*> facts_;
  std::map<position, std::string> dropped_;
  std::map<position, node_id> asked_outside_;
  std::vector<group> group_;
  std::vector<group_demand> demands_;
  std::vector<position> begin_, members_;
};

}  // namespace pinion::inline v0

#if PINION_HEADER_ONLY
#include <pinion/placement/grouping.ipp>
#include <pinion/placement/groups.ipp>
#endif
