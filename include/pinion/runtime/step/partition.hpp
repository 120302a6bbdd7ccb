// Cuts a placed step by device: one partition each, with a send and a receive for every value that crosses.
#pragma once

#include <cstdint>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/graph/graph_view.hpp>
#include <pinion/placement/placement.hpp>
#include <pinion/runtime/step/part_item.hpp>
#include <pinion/runtime/step/signature.hpp>

namespace pinion { inline namespace v0 { namespace runtime {

// The items of a step that run on one device.
struct partition {
  int device = 0;                // index into the devices of the placement
  std::vector<part_item> items;  // in an order in which they can run
  bool check_values = false;     // see step_signature
};

// How values go from device to device. A value.
struct transfer_rules {
  std::int64_t receive_ahead = 0;  // bytes that a device receives ahead of their readers, see receive_late; 0: no limit
  bool narrow = false;             // do floats cross from task to task as bfloat16?
  bool tell_targets = false;       // is `home` told when each target is done? See make_partial().
};

// Cuts a step into partitions. Its fetches live on device `home`, and so do its feeds unless the signature names
// another device. With tell_targets the home also has a fetch without a value for each target, numbered behind the
// others. A value goes at most once to each other device, from a host as soon as it is there; the control edges of a
// node that cross become values without bytes. Time and memory grow with nodes, edges and crossing values.
std::vector<partition> cut_by_device(graph_view g, const placement& placed, const step_signature& s, int home,
                                     const transfer_rules& transfers = {});

}}}  // namespace pinion::v0::runtime

#if PINION_HEADER_ONLY
#include <pinion/runtime/step/partition.ipp>
#endif
