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
};

// Cuts a step into partitions. Its fetches live on device `home`, and so do its feeds unless the signature names
// another device. A value goes at most once to each other device; a control edge that crosses becomes a value without
// bytes. Values are received so many bytes ahead of their readers, or without a limit where that is 0; see
// receive_late. Time and memory grow with nodes, edges and crossing values.
std::vector<partition> cut_by_device(graph_view g, const placement& placed, const step_signature& s, int home,
                                     std::int64_t receive_ahead = 0);

}}}  // namespace pinion::v0::runtime

#if PINION_HEADER_ONLY
#include <pinion/runtime/step/partition.ipp>
#endif
