// The cost placer, which simulates the step under many placements and keeps the shortest.
#pragma once

#include <cstddef>

#include <pinion/base/config.hpp>
#include <pinion/placement/cost/cost_model.hpp>
#include <pinion/placement/placement.hpp>
#include <pinion/placement/problem.hpp>

namespace pinion { inline namespace v0 {

// A placer for a short makespan under a cost model. Source: TensorFlow's white paper (Abadi et al., 2015), section
// 3.2.1. The paper leaves these points open, which are decided so:
//   - nodes are taken in the order in which they become ready in the simulation, ties in the order in which they were
//     made; a tie between devices goes to the first candidate; the same problem always gives the same placement
//   - a device runs one node at a time; transfers cost latency + bytes / bandwidth and do not slow each other; a value
//     goes once to each device
//   - a group goes to the device where its first node that takes time is done first; sources wait for that
//   - memory is a hard limit: variables, and values until their last use
//   - measured seconds of a node replace the estimate for that device type
// For problems up to `search_limit` nodes it also tries HEFT, each single device, devices in turn and the simple
// placer, simulates all, and from the best moves groups one by one as long as that shortens the step. Groups go back to
// where the simple placer has them unless the moves save `least_gain` of the step, or more than estimates are off, and
// while no more bytes cross between devices. How far estimates are off is known of the nodes that were measured; it
// counts for the part of the step that was not, but for no more of it than was measured. Throws as class placing does,
// and resource_exhausted where no placement that it tried fits into the memory of the devices.
struct cost_placer {
  cost_model costs = {};
  std::size_t search_limit = 20000;  // nodes; 0: the white paper's pass alone
  double search_work = 2e7;          // how many edges the moving of groups may look at
  double least_gain = .02;           // part of the step that all moves together have to save, or more, see above

  placement operator()(const placement_problem& p) const;
};

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/placement/cost/cost_placer.ipp>
#endif
