// What a placer is given: the nodes to place, the devices there are, and the rules.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include <pinion/placement/device_info.hpp>
#include <pinion/placement/op_knowledge.hpp>

namespace pinion { inline namespace v0 {

// Refers to a graph and to what is known of its ops; valid during one placement.
struct placement_problem {
  const pinion::graph& graph;
  std::vector<node_id> nodes;  // ascending, closed under inputs but for fed ones
  std::vector<device_info> devices;
  std::unordered_map<node_id, std::string> kept = {};  // nodes that were placed before keep their device
  device_spec home = {};                               // job and task preferred where a request names neither
  bool soft = false;                                   // may a request that cannot be met be loosened?
  const op_knowledge& ops = library_ops();
  device_spec local =
      {};  // the task that knows `ops`; other tasks may have kernels that it has not. {}: all have these
  device_spec first = {};  // a device that goes before all others: of a function's caller, for the body
};

}}  // namespace pinion::v0
