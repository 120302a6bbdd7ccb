// An item of the part of a step that runs on one device.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/graph/graph_view.hpp>
#include <pinion/opkit/transfer_key.hpp>

namespace pinion { inline namespace v0 { namespace runtime {

// An item of a partition: a node to compute, or one end of a feed, fetch or transfer.
struct part_item {
  enum kind_t : int { compute, feed, fetch, send, receive } kind = compute;
  node_id node = no_node;  // the node to compute; for other kinds the node whose output it carries, or that waits
  int index = 0;           // number of the feed or fetch; of a receive: number of the output, or -1
  transfer_key key = {};   // key of a send or receive
  bool peer = false;       // a send directly to another accelerator of this task
  bool narrow = false;     // of a send and its receive: the value is of floats, and goes as bfloat16
  std::vector<std::pair<int, int>> inputs = {};  // pairs of an item of this partition and an output of it
  std::vector<int> after = {};                   // items that must be done before this one
  int outputs = 0;
  // Nodes that may wait for other steps, as those do that work on queues and barriers: such a node itself, and of a
  // receive, those behind which its value comes, in order. Where they are too many, one node stands for all that it
  // comes behind itself.
  std::vector<node_id> waits = {};
  static constexpr std::size_t most_waits = 64;
};

}}}  // namespace pinion::v0::runtime
