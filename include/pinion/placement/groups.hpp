// Nodes that must stand together, and what each group of them asks for.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>

#include <pinion/base/config.hpp>
#include <pinion/placement/problem.hpp>

namespace pinion { inline namespace v0 {

class kernel_pool;
class request_pool;
struct group_demand;
struct group_tables;

// Groups of the nodes of a problem, made by class grouping. Nodes are told by their position in problem.nodes, groups
// by numbers in the order of their first members. Made once; refers to the problem. Throws, naming the nodes, where two
// that must stand together cannot.
class placement_groups {
 public:
  using position = std::uint32_t;
  using group = std::uint32_t;
  static constexpr position absent = ~position{0};

  explicit placement_groups(const placement_problem& p);
  ~placement_groups();

  group size() const;
  group of(position i) const;
  std::span<const position> members(group g) const;
  const group_demand& demand(group g) const;
  // Where a node stands in problem.nodes; `absent` for one that is not there.
  position position_of(node_id id) const;
  const node& at(position i) const;
  const op_facts& facts(position i) const;
  // The ops that a device lacks, as bits of group_demand::needs.
  std::uint64_t missing_on(const device_info& d) const;
  // What was given up of the wishes of some nodes.
  const std::map<position, std::string>& dropped() const;

  // The op outside the problem whose guard decided for a resource that asks for nothing itself; no_node for none.
  node_id asked_outside(position i) const;

  const request_pool& requests() const;
  const kernel_pool& kernels() const;

 private:
  const std::unique_ptr<group_tables> tables_;
};

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/placement/groups.ipp>
#endif
