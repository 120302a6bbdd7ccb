// The simple placer, which keeps TensorFlow's rules: each group goes to its first candidate, but constants and the like
// follow their consumers.
#pragma once

#include <pinion/base/config.hpp>
#include <pinion/placement/placing.hpp>

namespace pinion { inline namespace v0 {

// A placer without state. Throws invalid_argument, naming the node and its line, where no device can hold a node. Time
// and memory grow with nodes and edges. Source: TensorFlow 1.15, placer.cc.
class simple_placer {
 public:
  placement operator()(const placement_problem& p) const;
  // Gives a device to every group that has none.
  void fill(placing& work) const;
};

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/placement/simple_placer.ipp>
#endif
