// A partition that is ready to run: kernels, slots and counters are laid out once.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/device/device.hpp>
#include <pinion/opkit/kernel.hpp>
#include <pinion/runtime/step/executable_item.hpp>
#include <pinion/runtime/step/partition.hpp>
#include <pinion/runtime/step/planned_memory.hpp>

namespace pinion { inline namespace v0 { namespace runtime {

// Returns the kernel of a node: a new one, or for a stateful op the one that the session shares among its steps.
using kernel_source = std::function<std::shared_ptr<kernel>(const kernel_setup&)>;

// A compiled partition. Slots hold the outputs of all items during one run, in one array. Immutable once made.
struct executable {
  using input_slot = executable_item::input_slot;
  using item = executable_item;

  devices::device* device = nullptr;
  graph_view graph;
  std::vector<item> items;
  int slots = 0, inputs = 0;
  std::vector<int> readers;      // per slot: number of inputs that read it
  std::vector<int> last_reader;  // per slot: the last item that reads it, in order; -1: there is none
  bool waits = false;            // does any item receive or block?
  bool takes_briefly = false;    // do all items take values from elsewhere in some microseconds?
  bool light = false;            // do all items take some microseconds, beside the waiting?
  bool checks_values = false;    // are its kernels, and its feeds, looked at for NaN and infinities?
  std::vector<int> fed;          // the feeds of its items
  const std::unique_ptr<arena_use> arenas = std::make_unique<arena_use>();

  executable(partition part, graph_view g, devices::device& on, task_services& services,
             const std::shared_ptr<body_compiler>& bodies, const kernel_source& kernels);

 private:
  void add(const part_item& from);
  // Joins the items of a GPU that can be recorded together; see segment.hpp.
  void join_segments(task_services& services);
  std::shared_ptr<pinion::kernel> kernel_of(part_item& from, const kernel_setup& setup, const kernel_source& kernels);
  // The kernel of a node of a step that may check values.
  std::shared_ptr<pinion::kernel> looked_at(std::shared_ptr<pinion::kernel> k, const kernel_setup& setup) const;
  void count_readers();
  // Has the kernels of a GPU announce their code. Requires: the readers are counted.
  void announce_code() const;
  void mark_brief();  // items, and the whole as light
};

}}}  // namespace pinion::v0::runtime

#if PINION_HEADER_ONLY
#include <pinion/runtime/step/executable.ipp>
#endif
