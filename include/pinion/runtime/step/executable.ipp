// Bodies of <pinion/runtime/step/executable.hpp>.
#pragma once

#include <optional>
#include <utility>

#include <pinion/op/transfer/cpu.hpp>
#include <pinion/runtime/step/executable.hpp>

namespace pinion { inline namespace v0 { namespace runtime {

PINION_DECL executable::executable(partition part, graph_view g, devices::device& on, task_services& services,
                                   const std::shared_ptr<body_compiler>& bodies, const kernel_source& kernels)
    : device(&on), graph(g) {
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
      bool again = false;  // the slot is read again by a later input of this item
      for (std::size_t m = k + 1; m < items[i].inputs.size(); ++m) again |= items[i].inputs[m].slot == in.slot;
      in.last_in_order = !again && last_reader[static_cast<std::size_t>(in.slot)] == static_cast<int>(i);
    }
    for (int o = 0; o < items[i].outputs; ++o)
      items[i].wanted.push_back(readers[static_cast<std::size_t>(items[i].first_output + o)] > 0);
  }
}

PINION_DECL void executable::add(part_item& from, task_services& services, const std::shared_ptr<body_compiler>& bodies,
                                 const kernel_source& kernels) {
  item it;
  it.kind = from.kind;
  it.node = &graph[from.node];
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
    const node& n = *it.node;
    try {
      it.kernel = kernels({graph, n, *device, services, bodies});
    } catch (...) {
      throw current_error().at_node(n.name, n.op, to_string(n.where)).on_device(device->name());
    }
  } else if (from.kind == part_item::send) {
    it.kernel = std::make_shared<op::send_kernel>(std::move(from.key), !device->stream() ? op::send_kernel::host
                                                                       : from.peer       ? op::send_kernel::peer
                                                                                         : op::send_kernel::staged);
  } else if (from.kind == part_item::receive) {
    std::optional<output_type> expected;
    if (from.index >= 0) expected = graph.type_of({from.node, from.index});
    it.kernel = std::make_shared<op::receive_kernel>(std::move(from.key), std::move(expected));
  }
  if (it.kernel) {
    it.blocking = it.kernel->blocking();
  }
  waits |= it.blocking;
  items.push_back(std::move(it));
}

}}}  // namespace pinion::v0::runtime
