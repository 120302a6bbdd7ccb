// The tables behind placement_groups, which class group_builder fills.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <pinion/placement/kernel_pool.hpp>
#include <pinion/placement/problem.hpp>
#include <pinion/placement/reason.hpp>
#include <pinion/placement/request_pool.hpp>

namespace pinion { inline namespace v0 {

// The demand of a group: what its members have in common. Devices are ids in a request_pool, kernels ids in a
// kernel_pool.
struct group_demand {
  request_pool::id assigned = request_pool::nothing;  // the device of an earlier run; never given up
  request_pool::id resource = request_pool::nothing;  // the request of a reference or resource; given up last
  request_pool::id requested = request_pool::nothing;
  kernel_pool::id kernels = kernel_pool::none;
  std::uint64_t needs = 0;   // bits of the group's ops that some device lacks: placement_groups::missing_on()
  bool keeps_state = false;  // `assigned` is the device of a stateful member
  friend bool operator==(const group_demand&, const group_demand&) = default;
};

// The member that the others of a group follow, and what made it the leader: its request, that of an op outside, an
// earlier run, or (first_device) nothing but that it was made first.
struct group_lead {
  std::uint32_t member = ~std::uint32_t{0};
  placement_reason::kind by = placement_reason::first_device;
};

// Filled once. Refers to the problem.
struct group_tables {
  using position = std::uint32_t;
  using group = std::uint32_t;
  static constexpr position absent = ~position{0};

  explicit group_tables(const placement_problem& p)
      : problem(p),
        kernels(p.devices),
        position_of(static_cast<std::size_t>(p.graph.size()), absent),
        facts(p.nodes.size()) {}

  const node& at(position i) const { return problem.graph[problem.nodes[i]]; }
  std::uint64_t bit_of(std::string_view op) const {
    const auto at = std::find(rare.begin(), rare.end(), op);
    return at == rare.end() ? 0 : std::uint64_t{1} << (at - rare.begin());
  }

  const placement_problem& problem;
  request_pool requests;
  kernel_pool kernels;
  std::vector<std::string> rare;      // ops that some device lacks
  std::vector<position> position_of;  // by node id
  std::vector<const op_facts*> facts;
  std::map<position, std::string> dropped;
  std::map<position, node_id> asked_outside;
  std::vector<group> group_of;
  std::vector<group_demand> demands;
  std::vector<group_lead> leads;
  std::vector<position> begin, members;  // those of group g are members[begin[g]] up to members[begin[g + 1]]
};

}}  // namespace pinion::v0
