// Bodies of <pinion/runtime/step/executable.hpp>.
#pragma once

#include <algorithm>
#include <limits>
#include <optional>
#include <unordered_map>
#include <utility>

#include <pinion/base/cancellable_work.hpp>
#include <pinion/graph/attribute_value.hpp>
#include <pinion/graph/body.hpp>
#include <pinion/op/catalogue.hpp>
#include <pinion/op/operations.hpp>
#include <pinion/op/transfer/cpu.hpp>
#include <pinion/opkit/registry.hpp>
#include <pinion/runtime/check/checking_kernel.hpp>
#include <pinion/runtime/step/executable.hpp>
#include <pinion/runtime/step/segments_of.hpp>

namespace pinion { inline namespace v0 { namespace runtime { namespace detail {

inline bool has_body(const node& n) {
  return std::any_of(n.attrs.begin(), n.attrs.end(),
                     [](const attributes::entry& a) { return a.value.get_if<shared_body>() != nullptr; });
}
// Is it an op of the library that works on no state, nor do its bodies?
inline bool writes_nothing(const node& n) {
  return is_library_op(n.op) && !definition_of(n.op).stateful && !has_body(n);
}

}}}}  // namespace pinion::v0::runtime::detail

namespace pinion { inline namespace v0 { namespace runtime {

PINION_DECL executable::executable(partition part, graph_view g, devices::device& on, task_services& services,
                                   const std::shared_ptr<body_compiler>& bodies, const kernel_source& kernels)
    : device(&on), graph(g), takes_briefly(!on.stream()), checks_values(part.check_values) {
  for (part_item& from : part.items) {
    cancellable_work::check();
    add(from);
    item& it = items.back();
    it.kernel = kernel_of(from, {graph, *it.node, on, services, bodies}, kernels);
    it.blocking = it.kernel && it.kernel->blocking();
    it.may_bind = it.kernel && it.kernel->may_bind();
    it.may_stop = from.kind == part_item::compute && detail::writes_nothing(*it.node);
    waits |= it.blocking;
    takes_briefly &= it.kind != part_item::receive || !it.narrow;
  }
  count_readers();
  if (on.kernels() == devices::kernel_code::cuda) {
    announce_code();
    join_segments(services);
    count_readers();
  }
  mark_brief();
}

PINION_DECL void executable::announce_code() const {
  for (const item& it : items)
    if (it.kernel) it.kernel->announce(it.wanted);
}

PINION_DECL void executable::join_segments(task_services& services) {
  segments_of joined(std::move(items), graph, services);
  items = std::move(joined.items);
  slots = joined.slots;
  inputs = joined.inputs;
}

namespace detail {

// They take some microseconds, as long as it takes to hand them to another thread.
inline constexpr double brief_operations = 4096;

inline bool has_size(const output_type& t) {
  return !t.resource && t.dtype != dtype::string;
}

// The operations of items, as a bound; values go in and out as they are, unless they are narrow. Ops of users may take
// any time, whatever the size of their values, and so may bodies, and texts have any length; what a queue lets go on,
// goes on in the thread that has touched it.
class most_operations {
 public:
  explicit most_operations(graph_view g) : g_(g) {}

  double of(const executable_item& it) {
    const pinion::node& n = *it.node;
    const carried values = values_of(n);
    if (!values.have_size) return endless;
    if (it.kind != part_item::compute) return it.narrow ? values.elements : 0;
    const bool is_bounded =
        !it.blocking && !find_registered(n.op) &&
        std::all_of(n.inputs.begin(), n.inputs.end(), [&](const output& in) { return has_size(g_.type_of(in)); }) &&
        !has_body(n);
    return is_bounded ? operations_of(g_, n) : endless;
  }

 private:
  static constexpr double endless = std::numeric_limits<double>::infinity();
  struct carried {
    bool have_size = true;
    double elements = 0;
  };
  // Their product may be more than any memory holds: such a node fails when it runs.
  static double elements_of(const shape& s) {
    double n = 1;
    for (const std::int64_t extent : s.dims()) n *= static_cast<double>(extent);
    return n;
  }
  // Each node's are looked at once, since as many items may carry its values as it has.
  carried values_of(const pinion::node& n) {
    const auto [at, is_new] = known_.try_emplace(&n);
    carried& all = at->second;
    if (!is_new) return all;
    for (const output_type& t : n.outputs) {
      all.have_size &= has_size(t);
      all.elements += t.shape.known() ? elements_of(t.shape) : endless;
    }
    return all;
  }

  const graph_view g_;
  std::unordered_map<const pinion::node*, carried> known_;
};

}  // namespace detail

PINION_DECL void executable::mark_brief() {
  if (device->stream()) return;
  constexpr std::size_t most_items_of_light = 16;
  detail::most_operations most(graph);
  double sum = 0;
  for (item& it : items) {
    const double operations = most.of(it);
    it.brief = operations <= detail::brief_operations;
    sum += operations;
  }
  light = items.size() <= most_items_of_light && sum <= detail::brief_operations;
}

PINION_DECL void executable::add(const part_item& from) {
  item it;
  it.kind = from.kind;
  it.node = &graph[from.node];
  it.index = from.index;
  it.narrow = from.narrow;
  it.copies_lent = it.kind == part_item::compute && !definition_of(it.node->op).bears_changing_inputs;
  if (it.kind == part_item::feed) fed.push_back(it.index);
  it.key = from.key;
  it.waits = from.waits;
  it.first_input = inputs;
  it.first_output = slots;
  it.outputs = from.outputs;
  inputs += static_cast<int>(from.inputs.size());
  slots += from.outputs;
  const int self = static_cast<int>(items.size());
  const auto follow = [&](int before) {
    items[static_cast<std::size_t>(before)].successors.push_back(self);
    ++it.predecessors;
  };
  for (auto [producer, output] : from.inputs) {
    it.inputs.push_back({items[static_cast<std::size_t>(producer)].first_output + output, false});
    follow(producer);
  }
  for (int before : from.after) follow(before);
  items.push_back(std::move(it));
}

PINION_DECL std::shared_ptr<kernel> executable::kernel_of(part_item& from, const kernel_setup& setup,
                                                          const kernel_source& kernels) {
  switch (from.kind) {
    case part_item::compute: try { return looked_at(kernels(setup), setup);
      } catch (...) {
        const pinion::node& n = setup.node;
        throw current_error().at_node(n.name, n.op, to_string(n.where)).on_device(device->name());
      }
    case part_item::send: {
      const auto way = !device->stream() ? op::send_kernel::host
                       : from.peer       ? op::send_kernel::peer
                                         : op::send_kernel::staged;
      return std::make_shared<op::send_kernel>(std::move(from.key), way, from.narrow);
    }
    case part_item::receive: {
      std::optional<output_type> expected;
      if (from.index >= 0) expected = graph.type_of({from.node, from.index});
      return std::make_shared<op::receive_kernel>(std::move(from.key), std::move(expected), from.narrow);
    }
    default: return nullptr;
  }
}

// A node with bodies yields what these do, and they are looked at.
PINION_DECL std::shared_ptr<kernel> executable::looked_at(std::shared_ptr<kernel> k, const kernel_setup& setup) const {
  if (!checks_values || detail::has_body(setup.node)) return k;
  return checking_kernel::around(std::move(k), setup);
}

PINION_DECL void executable::count_readers() {
  readers.assign(static_cast<std::size_t>(slots), 0);
  last_reader.assign(static_cast<std::size_t>(slots), -1);
  std::vector<input_slot*> last(static_cast<std::size_t>(slots), nullptr);
  for (std::size_t i = 0; i < items.size(); ++i)
    for (input_slot& in : items[i].inputs) {
      ++readers[static_cast<std::size_t>(in.slot)];
      last_reader[static_cast<std::size_t>(in.slot)] = static_cast<int>(i);
      last[static_cast<std::size_t>(in.slot)] = &in;
      in.last_in_order = false;
    }
  for (input_slot* in : last)
    if (in) in->last_in_order = true;
  for (item& it : items) {
    it.wanted.clear();
    for (int o = 0; o < it.outputs; ++o)
      it.wanted.push_back(readers[static_cast<std::size_t>(it.first_output + o)] > 0);
  }
}

}}}  // namespace pinion::v0::runtime
