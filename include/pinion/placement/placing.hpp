// A placement in the making: what a placer works on.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/placement/groups.hpp>
#include <pinion/placement/placement.hpp>
#include <pinion/placement/problem.hpp>

namespace pinion { inline namespace v0 {

// The groups of a problem, the devices that may hold each, and which it was given. A placer gives every group one of
// its candidates and takes the result:
//
//   pn::placement operator()(const pn::placement_problem& p) const {
//     pn::placing work(p);
//     for (auto g : work.left()) work.put(g, work.candidates(g).front(), "my reason");
//     return work.result();
//   }
//
// Groups whose device an earlier run has fixed are placed from the start. Refers to the problem; for one thread.
class placing {
 public:
  using group = placement_groups::group;
  using position = placement_groups::position;

  // Throws where nodes that must stand together cannot.
  explicit placing(const placement_problem& p);
  placing(const placing&) = delete;
  ~placing();

  const placement_problem& problem() const;
  const placement_groups& groups() const;
  // Groups without a device, in the order of their first nodes.
  std::vector<group> left() const;

  // The devices that may hold a group, TensorFlow's choice first. Throws invalid_argument, naming the node, its line,
  // the devices and the kernels there are, where there is none.
  std::span<const int> candidates(group g);
  bool may_hold(group g, int device);
  // Index in problem().devices; -1 for a group that has none yet.
  int device_of(group g) const;
  int device_of_node(position i) const;

  // Throws invalid_argument for a device that may not hold the group.
  void put(group g, int device, std::string_view reason = "");
  // Takes back all that was put since the start.
  void start_over();
  // Throws failed_precondition for a group that has no device.
  placement result() const;

  // Can the device compute the node, and if not, why?
  bool has_kernel(position i, const device_info& d) const;
  std::string missing(position i, const device_info& d) const;
  // Why a request cannot be met for a node: no such device, or no kernel of it or of one that must stand with it.
  std::string why_not(position i, const device_spec& request) const;

 private:
  [[noreturn]] void refuse(group g) const;

  struct records;  // in placing.ipp: its pools are not for everybody who places to compile
  const std::unique_ptr<records> records_;
};

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/placement/placing.ipp>
#endif
