// Bodies of <pinion/runtime/optimize/fold_constants.hpp>.
#pragma once

#include <algorithm>

#include <pinion/base/cancellable_work.hpp>
#include <pinion/device/cpu.hpp>
#include <pinion/op/kernels.hpp>
#include <pinion/op/operations.hpp>
#include <pinion/op/source/op.hpp>
#include <pinion/runtime/optimize/fold_constants.hpp>
#include <pinion/runtime/optimize/placed_draft.hpp>

namespace pinion { inline namespace v0 { namespace runtime { namespace detail {

// A node and its constant inputs as a graph of their own; the node comes last.
struct lone_node {
  graph g;
  std::vector<any_tensor> inputs;

  lone_node(const draft& d, node n) {
    for (output& in : n.inputs) {
      const node& from = d.node_at(in.node);
      inputs.push_back(from.attrs.get<any_tensor>("value"));
      if (g.id_of(from.name) == no_node) g.adopt(from);
      in.node = g.id_of(from.name);
    }
    n.control_inputs.clear();
    g.adopt(std::move(n));
  }
  const node& it() const { return g.peek(g.size() - 1); }

  double work() { return operations_of(g, it()); }
  // Computes the node's value by its CPU kernel. Returns an empty tensor if there is no such kernel, or if it throws an
  // error: the node then fails when it runs, and the step's error names it. Other exceptions are faults of the library,
  // and pass.
  any_tensor value() {
    std::vector<any_tensor> outputs(1);
    try {
      devices::cpu_device cpu(parse_device("/job:localhost/replica:0/task:0/device:CPU:0"));
      task_services services;
      const auto kernel = make_kernel_for({g, it(), cpu, services});
      if (kernel->blocking()) return {};
      kernel_context c;
      c.node = &it();
      c.device = &cpu;
      c.services = &services;
      c.inputs = inputs;
      c.outputs = outputs;
      kernel->run(c);
    } catch (const error&) {
      return {};
    }
    return outputs[0];
  }
};

// Makes a constant of a node, whose value is known. Its inputs are folded into it.
inline void make_constant(draft& d, node_id i, const any_tensor& value) {
  node& constant = d.change(i);
  for (const output& in : constant.inputs) d.fold(in.node, i);
  constant.op = op::constant::name;
  constant.inputs.clear();
  constant.attrs = {{"value", value}};
  constant.outputs = {{value.dtype(), value.shape()}};
  d.mark_computed(i);
}

inline any_tensor known_shape(const draft& d, const node& n) {
  const shape& extent = d.type_of(n.inputs[0]).shape;
  if (!extent.known()) return {};
  any_tensor value(dtype::int32, {extent.rank()});
  for (int i = 0; i < extent.rank(); ++i) value.data<std::int32_t>()[i] = static_cast<std::int32_t>(extent[i]);
  return value;
}

}}}}  // namespace pinion::v0::runtime::detail

namespace pinion { inline namespace v0 { namespace runtime {

PINION_DECL int fold_constants(draft& d, std::int64_t limit) {
  int folded = 0;
  double budget = most_folded_operations;
  std::vector<bool> pure;  // true if everything the node needs is a pure value
  for (node_id i = 0; i < d.size(); ++i) {
    const node& n = d.node_at(i);
    pure.push_back(n.control_inputs.empty() && (is_repeatable(d, i) || n.op == op::placeholder::name || d.is_fed(i)) &&
                   std::all_of(n.inputs.begin(), n.inputs.end(),
                               [&](const output& in) { return pure[static_cast<std::size_t>(in.node)]; }));
    if (!d.runs(i) || n.op == op::constant::name || n.inputs.empty() || n.outputs.size() != 1 ||
        !n.control_inputs.empty())
      continue;
    const bool of_constants = std::all_of(n.inputs.begin(), n.inputs.end(), [&](const output& in) {
      return d.node_at(in.node).op == op::constant::name && !d.is_fed(in.node) &&
             d.node_at(in.node).control_inputs.empty();
    });
    const bool of_known_shape = n.op == op::shape_of::name && pure.back();
    if ((!of_constants && !of_known_shape) || !is_repeatable(d, i) || !is_library_op(n.op)) continue;
    if (!n.outputs[0].shape.known() || n.outputs[0].bytes() > limit) continue;
    any_tensor value;
    if (n.op == op::shape_of::name) {
      value = detail::known_shape(d, n);
    } else if (detail::lone_node alone(d, n); alone.work() <= budget) {
      cancellable_work::check();
      budget -= alone.work();
      value = alone.value();
    }
    if (value.empty()) continue;
    detail::make_constant(d, i, value);
    ++folded;
  }
  return folded;
}

}}}  // namespace pinion::v0::runtime
