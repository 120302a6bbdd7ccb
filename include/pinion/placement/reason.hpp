// Records of a placement that explain() puts into words: the reason of a group's device, and the cause of an unmet
// request.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include <pinion/graph/node.hpp>

namespace pinion { inline namespace v0 {

// The reason of a group's device, which class placing records when it decides. A view into the placement.
struct placement_reason {
  enum kind : std::uint8_t {
    first_device,  // nobody asked: the first device that may hold the group
    only_kernel,   // nobody asked, and on devices that were passed over the culprit has no kernel
    placer,        // nobody asked: the placer chose, for the reason in `words` if it gave one
    kept,          // an earlier run put the leader there
    outside,       // the culprit asked, which works on the leader and is not in the problem
    requested,     // the leader asked
  };
  kind by = first_device;
  node_id leader = no_node;  // the member that the others of the group follow
  node_id culprit = no_node;
  std::string_view words = {};
  std::span<const int> refused = {};  // devices that the request allows, but where a member has no kernel
};

// The cause why a node is on a device that does not meet its request.
struct unmet_request {
  enum kind : std::uint8_t {
    dropped,       // its group asks for something else; the note in placement::dropped() says who
    no_device,     // no device answers to the request
    lacks_kernel,  // the culprit, which is the node or one that must stand with it, has no kernel on `device`
    no_type,       // the node has no kernel on the requested type of device, and no such device is there
    crowd,         // a device answers, but the others of the group ask for something else
  };
  kind why = dropped;
  node_id culprit = no_node;
  int device = -1;  // in problem.devices
};

}}  // namespace pinion::v0
