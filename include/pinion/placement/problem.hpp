// What a placer is given: the nodes to place, the devices there are, and the rules.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include <pinion/placement/plan.hpp>

namespace pinion::inline v0 {

// Refers to a graph; valid during one placement.
struct placement_problem {
  const pinion::graph& graph;
  std::vector<node_id> nodes;  // ascending, closed under inputs but for fed ones
  std::vector<device_info> devices;
  std::unordered_map<node_id, std::string> kept;  // nodes that were placed before keep their device
  device_spec home{};                             // job and task preferred where a request names neither
  bool soft = false;                              // may a request that cannot be met be loosened?
};

}  // namespace pinion::inline v0
