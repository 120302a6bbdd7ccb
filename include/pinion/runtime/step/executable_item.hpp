// An item of a partition that is ready to run.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/graph/node.hpp>
#include <pinion/opkit/kernel.hpp>
#include <pinion/opkit/transfer_key.hpp>
#include <pinion/runtime/step/partition.hpp>

namespace pinion { inline namespace v0 { namespace runtime {

// A kernel with its places among the slots of a run, or one end of a feed or fetch. Immutable once its executable is
// made.
struct executable_item {
  struct input_slot {
    int slot = -1;
    bool last_in_order = false;  // no later item reads the slot, when items run in order
  };

  part_item::kind_t kind;
  std::shared_ptr<pinion::kernel> kernel;  // the kernel of a computation, a send or a receive
  std::vector<input_slot> inputs;
  int first_input = 0;  // of the arguments of a run
  int first_output = 0, outputs = 0;
  std::vector<unsigned char> wanted;  // per output: is it read?
  std::vector<int> successors;        // items that wait for this one, listed once per edge
  int predecessors = 0;
  int index = 0;        // number of the feed or fetch
  bool narrow = false;  // a send or receive that rounds or widens what it carries
  bool blocking = false;
  bool may_bind = false;
  bool may_stop = false;     // it writes no state, so that it may end between two parts of its work when the run fails
  bool copies_lent = false;  // its kernel needs inputs that nobody changes
  bool brief = false;        // it takes some microseconds at most
  bool is_segment = false;   // the kernel runs several nodes, and traces each
  bool expensive() const { return kernel && kernel->expensive(); }
  const pinion::node* node = nullptr;  // computed here, or its output is fed, fetched, sent or received
  transfer_key key = {};               // key of a send or a receive
  std::vector<node_id> waits = {};     // as part_item::waits
};

}}}  // namespace pinion::v0::runtime
