// Plain placers that others are measured by: everything on one device, and devices in turn.
#pragma once

#include <pinion/base/config.hpp>
#include <pinion/placement/placing.hpp>

namespace pinion { inline namespace v0 {

// A placer that puts every group on one device if that may hold it, else on its first candidate.
struct one_device_placer {
  int device = 0;  // in problem.devices

  placement operator()(const placement_problem& p) const;
  // Gives a device to every group that has none.
  void fill(placing& work) const;
};

// A placer that puts each group on the next of its candidates.
struct round_robin_placer {
  placement operator()(const placement_problem& p) const;
  void fill(placing& work) const;
};

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/placement/cost/plain_placers.ipp>
#endif
