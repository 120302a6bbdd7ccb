// A partition that is ready to run: kernels, slots and counters are laid out once.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/device/device.hpp>
#include <pinion/opkit/kernel.hpp>
#include <pinion/runtime/step/partition.hpp>
#include <pinion/runtime/step/planned_memory.hpp>

namespace pinion { inline namespace v0 { namespace runtime {

// Returns the kernel of a node: a new one, or for a stateful op the one that the session shares among its steps.
using kernel_source = std::function<std::shared_ptr<kernel>(const kernel_setup&)>;

// A compiled partition. Slots hold the outputs of all items during one run, in one array. Immutable once made.
struct executable {
  struct input_slot {
    int slot = -1;
    bool last_in_order = false;  // no later item reads the slot, when items run in order
  };
  struct item {
    part_item::kind_t kind;
    std::shared_ptr<pinion::kernel> kernel;  // the kernel of a computation, a send or a receive
    std::vector<input_slot> inputs;
    int first_input = 0;  // of the arguments of a run
    int first_output = 0, outputs = 0;
    std::vector<unsigned char> wanted;  // per output: is it read?
    std::vector<int> successors;        // items that wait for this one, listed once per edge
    int predecessors = 0;
    int index = 0;  // number of the feed or fetch
    bool blocking = false;
    bool may_bind = false;
    bool expensive() const { return kernel && kernel->expensive(); }
    const pinion::node* node = nullptr;  // computed here, or its output is fed, fetched, sent or received
    std::string key = {};                // key of a send or a receive
  };

  devices::device* device = nullptr;
  graph_view graph;
  std::vector<item> items;
  int slots = 0, inputs = 0;
  std::vector<int> readers;      // per slot: number of inputs that read it
  std::vector<int> last_reader;  // per slot: the last item that reads it, in order; -1: there is none
  bool waits = false;            // does any item receive or block?
  std::vector<int> fed;          // the feeds of its items
  const std::unique_ptr<arena_use> arenas = std::make_unique<arena_use>();

  executable(partition part, graph_view g, devices::device& on, task_services& services,
             const std::shared_ptr<body_compiler>& bodies, const kernel_source& kernels);

 private:
  void add(const part_item& from);
  // Joins the items of a GPU that can be recorded together; see segment.hpp.
  void join_segments(task_services& services);
  std::shared_ptr<pinion::kernel> kernel_of(part_item& from, const kernel_setup& setup, const kernel_source& kernels);
  void count_readers();
};

}}}  // namespace pinion::v0::runtime

#if PINION_HEADER_ONLY
#include <pinion/runtime/step/executable.ipp>
#endif
