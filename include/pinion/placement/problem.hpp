// A placement problem: the nodes to place, the devices that there are, and the rules. A placer is given one.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include <pinion/placement/device_info.hpp>
#include <pinion/placement/op_knowledge.hpp>

namespace pinion { inline namespace v0 {

// Refers to a graph and to the knowledge of its ops, and is valid while both are; made for one placement.
struct placement_problem {
  graph_view graph;
  std::vector<node_id> nodes;  // ascending, closed under inputs but for fed ones
  std::vector<device_info> devices;
  std::unordered_map<node_id, std::string> kept = {};  // the devices of those of them that ran before
  device_spec home = {};                               // job and task preferred where a request names neither
  bool soft = false;                                   // may a request that cannot be met be loosened?
  const op_knowledge& ops = library_ops();
  // The task that `ops` speaks for: other tasks may have kernels that it has not. Empty where `ops` speaks for all.
  device_spec local = {};
  // A device that is preferred to all others: that of a function's caller, when the function's body is placed.
  device_spec first = {};
};

}}  // namespace pinion::v0
