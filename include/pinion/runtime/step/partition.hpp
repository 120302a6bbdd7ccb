// Cutting a placed step by device: one partition each, with a send and a receive for every value that crosses.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/graph/graph.hpp>
#include <pinion/placement/placement.hpp>
#include <pinion/runtime/step/signature.hpp>

namespace pinion { inline namespace v0 { namespace runtime {

// An item of a partition: a node to compute, or one of the ends of what comes in and goes out.
struct part_item {
  enum kind_t { compute, feed, fetch, send, receive } kind = compute;
  node_id node = no_node;                        // to compute; of the others the node whose output it carries
  int index = 0;                                 // which feed or fetch; of a receive which output, or -1
  std::string key = {};                          // of a send or receive
  bool peer = false;                             // a send straight to another accelerator of this task
  std::vector<std::pair<int, int>> inputs = {};  // item of this partition, output of it
  std::vector<int> after = {};                   // items that must be done before
  int outputs = 0;
};

struct partition {
  int device = 0;                // index in the placement
  std::vector<part_item> items;  // in an order in which they may run
};

// Partitions of a step whose fetches live on device `home`, and its feeds too where the signature says nothing else. A
// value goes at most once to each other device; a control edge that crosses becomes a value without bytes. Time and
// memory grow with nodes, edges and what crosses.
std::vector<partition> cut_by_device(const graph& g, const placement& placed, const step_signature& s, int home);

}}}  // namespace pinion::v0::runtime

#if PINION_HEADER_ONLY
#include <pinion/runtime/step/partition.ipp>
#endif
