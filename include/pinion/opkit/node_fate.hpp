// The fate of a node of a step that passes rewrote.
#pragma once

#include <cstdint>

#include <pinion/graph/node.hpp>

namespace pinion { inline namespace v0 {

// The fate of a node that was placed, once passes rewrote the step. A session's plan is made of one: its optimizer says
// what it made of each node.
struct node_fate {
  enum kind : std::uint8_t {
    runs,      // as it was made
    apart,     // as it was made, although `by`, which reads it, could compute it too but for an obstacle
    computed,  // a constant runs in its place
    folded,    // into `by`, which computes it too
    shared,    // `by` computes the same and runs for both
    unused,    // nothing that runs reads it
  };
  enum obstacle : std::uint8_t {
    none,
    fetched,
    several_readers,
    ordered,       // one of them waits for other nodes
    other_device,  // than that of `by`
    cast,          // `by` computes in another dtype
    other_shape,   // or perhaps another shape, so that `by` would compute elements more than once
    too_large,     // for one node
    not_compiled,  // both together, while this binary has a kernel of a part
  };
  kind what = runs;
  node_id by = no_node;  // a node of the problem that runs; of `apart`, any
  obstacle why = none;
};

}}  // namespace pinion::v0
