// The builder of a placement, with which a placer gives each group a device.
#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/placement/groups.hpp>
#include <pinion/placement/placement.hpp>
#include <pinion/placement/problem.hpp>

namespace pinion { inline namespace v0 {

// Knows the groups of a problem and the devices that may hold each, and records with every decision what decided it. A
// placer puts every group on one of its candidates and takes the result:
//
//   pn::placement operator()(const pn::placement_problem& p) const {
//     pn::placing work(p);
//     for (auto g : work.left()) work.put(g, work.candidates(g).front(), "my reason");
//     return work.result();
//   }
//
// Groups whose device an earlier run fixed are placed from the start. Refers to the problem; for one thread.
class placing {
 public:
  using group = placement_groups::group;
  using position = placement_groups::position;

  // Throws invalid_argument where nodes must stand together and cannot.
  explicit placing(const placement_problem& p);
  placing(const placing&) = delete;
  ~placing();

  const placement_problem& problem() const;
  const placement_groups& groups() const;
  // Groups without a device, in the order of their first nodes.
  std::vector<group> left() const;

  // The devices that may hold a group, TensorFlow's choice first. Where there are none, throws invalid_argument, which
  // names the node, its line, and the devices and kernels that there are.
  std::span<const int> candidates(group g);
  bool may_hold(group g, int device);
  // An index into problem().devices; -1 for a group that has no device yet.
  int device_of(group g) const;
  int device_of_node(position i) const;

  // Decides for a device, for the placer's reason if it gives one. Throws invalid_argument for a device that may not
  // hold the group.
  void put(group g, int device, std::string_view reason = "");
  // Takes back every decision since the start.
  void start_over();
  // The placement, and the costs by which it was decided, if the placer looked at some. Throws failed_precondition for
  // a group that has no device.
  placement result(std::shared_ptr<const cost_model> costs = nullptr) const;

 private:
  [[noreturn]] void refuse(group g) const;
  [[noreturn]] void refuse(group g, int device) const;

  struct records;  // in placing.ipp, so that a placer does not compile its pools
  const std::unique_ptr<records> records_;
};

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/placement/placing.ipp>
#endif
