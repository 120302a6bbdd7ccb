// The groups of a problem: nodes that must stand on one device, and what each group demands of it.
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
struct group_lead;
struct group_tables;

// Found by class group_builder when it is constructed, and fixed from then on. A node is named by its position in
// problem.nodes, a group by a number in the order of first members. Refers to the problem; read by any thread. The
// constructor throws invalid_argument, naming the nodes, where two nodes must stand together and cannot.
class placement_groups {
 public:
  using position = std::uint32_t;
  using group = std::uint32_t;
  static constexpr position absent = ~position{0};

  explicit placement_groups(const placement_problem& p);
  ~placement_groups();

  group size() const;
  group of(position i) const;
  // The group of each node, by position.
  std::span<const group> all() const;
  std::span<const position> members(group g) const;
  const group_demand& demand(group g) const;
  const group_lead& lead(group g) const;
  // The position of a node in problem.nodes; `absent` for one that is not there.
  position position_of(node_id id) const;
  const node& at(position i) const;
  const op_facts& facts(position i) const;
  // The ops that a device lacks, as bits of group_demand::needs.
  std::uint64_t missing_on(const device_info& d) const;
  // Notes on requests and colocations that were given up, by the position of the node that had them.
  const std::map<position, std::string>& dropped() const;

  // The op outside the problem that decides for a resource which asks for nothing itself; no_node for none.
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
