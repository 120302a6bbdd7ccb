// Bodies of <pinion/train/optimizers/conditional_writes.hpp>.
#pragma once

#include <utility>

#include <pinion/graph/same_device.hpp>
#include <pinion/graph/scopes.hpp>
#include <pinion/op/control/functions.hpp>
#include <pinion/op/elementwise/functions.hpp>
#include <pinion/op/source/functions.hpp>
#include <pinion/op/source/op.hpp>
#include <pinion/train/optimizers/conditional_writes.hpp>

namespace pinion { inline namespace v0 { namespace train { namespace detail {

inline const expr<bool>*& open_predicate() {
  thread_local const expr<bool>* open = nullptr;
  return open;
}

PINION_DECL writes_only_if::writes_only_if(const expr<bool>& holds)
    : all_(current() ? expr<bool>(*current() && holds) : holds), before_(current()) {
  open_predicate() = &all_;
}
PINION_DECL writes_only_if::~writes_only_if() {
  open_predicate() = before_;
}
PINION_DECL const expr<bool>* writes_only_if::current() {
  return open_predicate();
}

// The variable that a node only reads; no_node for any other node.
inline node_id read_by(graph& g, node_id n) {
  if (g[n].op != op::identity::name) return no_node;
  const output from = g[n].inputs[0];
  return g.type_of(from).reference ? from.node : no_node;
}

// True for a constant, which a body makes for itself, so that nothing is made in a step that does not use it.
inline bool is_constant(const node& n) {
  return n.op == op::constant::name || n.op == op::fill::name;
}

// The output in the body that is being built that stands for one around it.
inline output inside(graph& around, output o) {
  const node& from = around[o.node];
  if (is_constant(from)) {
    graph& body = default_graph();
    return {build(body, {.op = from.op, .base_name = "value", .attrs = from.attrs}), o.index};
  }
  const node_id variable = read_by(around, o.node);
  if (variable == no_node) return dsl::captured_in(around, o).what;
  const dsl::endpoint state = dsl::captured_in(around, {variable, 0});
  return {build(*state.of, {.op = op::identity::name, .base_name = "read", .inputs = {state.what}}), 0};
}

// An operation that runs once a write may: behind its control inputs, and those of the reads that it takes over.
inline operation before_write(graph& g, const node_request& write) {
  node_request before{.op = op::no_op::name, .base_name = write.base_name + "/before"};
  before.control_inputs = write.control_inputs;
  for (const output& o : write.inputs)
    if (read_by(g, o.node) != no_node)
      for (const node_id n : g[o.node].control_inputs) before.control_inputs.push_back(n);
  return {g, build(g, std::move(before))};
}

PINION_DECL operation build_write(graph& g, node_request request) {
  const expr<bool>* const holds = writes_only_if::current();
  if (!holds) return {g, build(g, std::move(request))};
  const same_device there(g, request.inputs[0].node);  // a conditional runs on a processor of the variable's task
  const colocate_with none{nullptr};
  const control_dependencies after{before_write(g, request)};
  const std::string name = std::exchange(request.base_name, std::string(request.op));
  request.control_inputs.clear();
  const auto write = [&] {
    for (output& o : request.inputs) o = inside(g, o);
    graph& body = default_graph();
    return operation(body, build(body, request));
  };
  return cond(
      *holds, write, [] { return no_op(); }, name);
}

}}}}  // namespace pinion::v0::train::detail
