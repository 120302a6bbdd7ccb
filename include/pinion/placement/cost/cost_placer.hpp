// The placer that thinks: it simulates the step, places as it goes, and keeps the best of what it tried.
#pragma once

#include <cstddef>

#include <pinion/base/config.hpp>
#include <pinion/placement/cost/cost_model.hpp>
#include <pinion/placement/placement.hpp>
#include <pinion/placement/problem.hpp>

namespace pinion { inline namespace v0 {

// A function object from a problem to a placement of short makespan under a cost model. Source: TensorFlow's white
// paper (Abadi et al., 2015), section 3.2.1, which leaves open, and here is so:
//   - nodes are taken in simulated order of readiness, ties in the order in which they were made; a tie between devices
//     goes to the first candidate, which is the simple placer's order; one run gives one answer
//   - a device runs one node at a time; transfers cost latency + bytes / bandwidth and do not slow each other; a value
//     goes once to each device
//   - a group that must stand together goes where its first node that takes time is done first; sources wait for that
//   - memory is a hard limit: variables, and values until their last use
//   - measured seconds of a node replace the estimate for that device type
// For problems up to `search_limit` nodes it also tries HEFT, each single device, devices in turn and the simple rules,
// simulates all, and from the best moves groups one by one as long as that shortens the step.
// Throws as class placing does, and resource_exhausted where nothing it tried fits into the devices' memory.
struct cost_placer {
  cost_model costs = {};
  std::size_t search_limit = 20000;  // nodes; 0: the white paper's pass alone
  double search_work = 2e7;          // edges that moving groups may look at

  placement operator()(const placement_problem& p) const;
};

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/placement/cost/cost_placer.ipp>
#endif
