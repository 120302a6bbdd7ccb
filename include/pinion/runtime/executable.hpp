// A partition made ready to run: kernels, slots and counters laid out once.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <pinion/op/kernels.hpp>
#include <pinion/op/transfer/cpu.hpp>
#include <pinion/runtime/partition.hpp>

namespace pinion::inline v0::runtime {

// Makes the kernel of a node, or finds one that a session keeps: stateful kernels are shared by its steps.
using kernel_source = std::function<std::shared_ptr<kernel>(const kernel_setup&)>;

// Slots hold the outputs of items during one run, all in one array. Immutable once made.
struct executable {
  struct input_slot {
    int slot = -1;
    bool last_in_order = false;  // nobody needs it after this, when items run in order
  };
  struct item {
    part_item::kind_t kind;
    std::shared_ptr<pinion::kernel> kernel;  // of a computation, a send or a receive
    std::vector<input_slot> inputs;
    int first_output = 0, outputs = 0;
    std::vector<unsigned char> wanted;  // per output: does anybody read it?
    std::vector<int> successors;        // items that wait for this one, once per edge
    int predecessors = 0;
    int index = 0;  // which feed or fetch
    bool blocking = false;
    bool expensive() const { return kernel && kernel->expensive(); }
    node_id node = no_node;
    std::string key = {};  // of a send or a receive
  };

  devices::device* device = nullptr;
  const pinion::graph* graph = nullptr;
  std::vector<item> items;
  int slots = 0;
  std::vector<int> readers;  // per slot: how many inputs read it
  bool waits = false;        // does any item receive or block?

  executable(partition part, const pinion::graph& g, devices::device& on, task_services& services,
             const std::shared_ptr<body_compiler>& bodies, const kernel_source& kernels)
      : device(&on), graph(&g) {
    std::vector<int> last_reader;
    for (std::size_t i = 0; i < part.items.size(); ++i) add(part.items[i], services, bodies, kernels);
    readers.assign(static_cast<std::size_t>(slots), 0);
    last_reader.assign(static_cast<std::size_t>(slots), -1);
    for (std::size_t i = 0; i < items.size(); ++i)
      for (const auto& in : items[i].inputs) {
        ++readers[static_cast<std::size_t>(in.slot)];
        last_reader[static_cast<std::size_t>(in.slot)] = static_cast<int>(i);
      }
    for (std::size_t i = 0; i < items.size(); ++i) {
      for (std::size_t k = 0; k < items[i].inputs.size(); ++k) {
        auto& in = items[i].inputs[k];
        bool again = false;  // the same slot further right in this item
        for (std::size_t m = k + 1; m < items[i].inputs.size(); ++m) again |= items[i].inputs[m].slot == in.slot;
        in.last_in_order = !again && last_reader[static_cast<std::size_t>(in.slot)] == static_cast<int>(i);
      }
      for (int o = 0; o < items[i].outputs; ++o)
        items[i].wanted.push_back(readers[static_cast<std::size_t>(items[i].first_output + o)] > 0);
    }
  }

 private:
  void add(part_item& from, task_services& services, const std::shared_ptr<body_compiler>& bodies,
           const kernel_source& kernels) {
    item it;
    it.kind = from.kind;
    it.node = from.node;
    it.index = from.index;
    it.key = from.key;
    it.first_output = slots;
    it.outputs = from.outputs;
    slots += from.outputs;
    const int self = static_cast<int>(items.size());
    for (auto [producer, output] : from.inputs) {
      auto& p = items[static_cast<std::size_t>(producer)];
      it.inputs.push_back({p.first_output + output, false});
      p.successors.push_back(self);
      ++it.predecessors;
    }
    for (int before : from.after) {
      items[static_cast<std::size_t>(before)].successors.push_back(self);
      ++it.predecessors;
    }
    if (from.kind == part_item::compute) {
      const node& n = (*graph)[from.node];
      try {
        it.kernel = kernels({*graph, n, *device, services, bodies});
      } catch (...) {
        throw current_error().at_node(n.name, n.op, to_string(n.where)).on_device(device->name());
      }
    } else if (from.kind == part_item::send) {
      it.kernel = std::make_shared<op::send_kernel>(std::move(from.key), !device->stream() ? op::send_kernel::host
                                                                         : from.peer       ? op::send_kernel::peer
                                                                                           : op::send_kernel::staged);
    } else if (from.kind == part_item::receive) {
      std::optional<output_type> expected;
      if (from.index >= 0) expected = graph->type_of({from.node, from.index});
      it.kernel = std::make_shared<op::receive_kernel>(std::move(from.key), std::move(expected));
    }
    if (it.kernel) {
      it.blocking = it.kernel->blocking();
    }
    waits |= it.blocking;
    items.push_back(std::move(it));
  }
};

}  // namespace pinion::inline v0::runtime
