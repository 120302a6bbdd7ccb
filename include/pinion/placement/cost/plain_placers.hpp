// Placers that think little: everything on one device, and devices in turn. What others are measured by.
#pragma once

#include <pinion/base/config.hpp>
#include <pinion/placement/placing.hpp>

namespace pinion { inline namespace v0 {

// Every group on one device where it may stand there, else on its first candidate.
struct one_device_placer {
  int device = 0;  // in problem.devices

  placement operator()(const placement_problem& p) const;
  // The same on what is begun already.
  void fill(placing& work) const;
};

// Each group on the next of its candidates.
struct round_robin_placer {
  placement operator()(const placement_problem& p) const;
  void fill(placing& work) const;
};

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/placement/cost/plain_placers.ipp>
#endif
