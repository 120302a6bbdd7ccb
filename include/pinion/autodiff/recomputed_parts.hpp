// The parts of a graph that pn::recompute marked: their nodes, the copies that gradients made of them, and what is
// saved and paid.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/base/source_location.hpp>
#include <pinion/graph/graph_view.hpp>

namespace pinion { inline namespace v0 {

namespace autodiff {

// A part: the nodes from `first` until before `last`, and their copies, which the gradients made so far have.
struct marked_part {
  node_id first = 0, last = 0;
  source_location where{};
  std::vector<node_id> copies = {};
};

// The parts of a graph, by their nodes. Attached to the graph; thread-compatible, as that is.
struct marked_parts {
  std::vector<marked_part> all = {};
  int open = 0;  // scopes that live, one in the other

  // The index of the part that a node is in; -1: in none.
  int part_of(node_id id) const;
};

}  // namespace autodiff

// A part that gradients compute again. The bytes are those of values that gradients would otherwise keep from the
// forward pass; the operations are those of the copies. Values of unknown shapes count in neither, but in `unknown`.
struct recomputed_part {
  source_location where{};  // of pn::recompute
  std::string first = {};   // the name of the first node that runs again: "block_3/RmsNorm/recompute"
  int nodes = 0;            // that run again
  std::int64_t bytes = 0;   // not kept
  double operations = 0;    // paid for it
  int unknown = 0;          // nodes that run again, and whose sizes are not known
};

// The parts that gradients of this graph compute again, in the order in which they were marked.
std::vector<recomputed_part> recomputed_parts(graph& g);
// Their sums over the nodes of one step, which are ascending.
std::vector<recomputed_part> recomputed_parts(graph& g, const std::vector<node_id>& of_step);

// "the part at model.cpp:12 is computed again from block_3/RmsNorm/recompute on: 1234 bytes are not kept, for 5.6e+07
// operations of 12 nodes"
std::string to_string(const recomputed_part& part);

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/autodiff/recomputed_parts.ipp>
#endif
