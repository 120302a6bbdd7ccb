// Bodies of <pinion/opkit/build.hpp>.
#pragma once

#include <algorithm>
#include <utility>

#include <pinion/graph/scopes.hpp>
#include <pinion/opkit/build.hpp>
#include <pinion/opkit/shape_context.hpp>

namespace pinion { inline namespace v0 {

namespace detail {

// Joins the colocation groups of the anchor. The anchor's request, if it has one, replaces the node's, as in
// TensorFlow.
inline void stand_with(node& n, const node& anchor) {
  if (!anchor.requested.empty()) {
    n.requested = anchor.requested;
    n.request_reason = "node " + anchor.name;
  }
  const std::vector<std::string> own{anchor.name};
  for (const std::string& group : anchor.colocation.empty() ? own : anchor.colocation)
    if (std::find(n.colocation.begin(), n.colocation.end(), group) == n.colocation.end()) n.colocation.push_back(group);
}

// Puts a node beside the states among its inputs: references, and resources that are no queue. Open guards then have no
// effect. Returns true for a node that only reads such a state; colocate_with has no effect on it either.
inline bool stand_with_states(node& n, graph& g, const definition& def) {
  bool reads = false;
  for (const output& in : n.inputs) {
    const output_type& t = g.type_of(in);
    if (!t.reference && (!t.resource || def.heeds_guards)) continue;
    n.scope = nullptr;
    stand_with(n, g[in.node]);
    reads = reads || def.states == 0;
  }
  return reads;
}

// Applies open colocate_with scopes: the guards inside them resolve first, then each anchor replaces the request, and
// the outermost anchor comes last.
inline void stand_with_anchors(node& n, graph& g, const std::vector<node_id>& anchors) {
  if (anchors.empty()) return;
  resolve_request(n);
  n.scope = nullptr;
  for (auto at = anchors.rbegin(); at != anchors.rend(); ++at) stand_with(n, g[*at]);
}

// The source line of a node: that of the user's call under way, else the one given, else that of the newest input with
// a known line. The last one serves C++ operators, which cannot take a source_location.
inline source_location location_of(const graph& g, const std::vector<output>& inputs, source_location given) {
  if (scope_state::current().caller.known()) return scope_state::current().caller;
  if (given.known()) return given;
  node_id newest = no_node;
  for (const output& in : inputs)
    if (g.peek(in.node).where.known()) newest = std::max(newest, in.node);
  return newest == no_node ? source_location{} : g.peek(newest).where;
}

// Tells whether the op makes a state of the task, which a container may hold.
inline bool has_container(const definition& def) {
  return def.attrs ? def.attrs->find("container") != nullptr : def.stateful;
}

}  // namespace detail

PINION_DECL node_id build(graph& g, node_request request) {
  const scope_state& state = scope_state::current();
  expect_own_scopes(g);
  const definition& def = definition_of(request.op);
  node n;
  n.op = request.op;
  n.inputs = std::move(request.inputs);
  n.attrs = std::move(request.attrs);
  n.where = detail::location_of(g, n.inputs, request.where);
  n.control_inputs = current_control_inputs(n.inputs);
  for (node_id id : request.control_inputs)
    if (std::find(n.control_inputs.begin(), n.control_inputs.end(), id) == n.control_inputs.end())
      n.control_inputs.push_back(id);
  n.scope = state.device;
  n.on_host = def.on_host;
  n.named = request.named;
  if (request.exact_name.empty()) {
    name_scope::check(request.base_name);
    n.base_name = state.name_prefix + request.base_name;
  } else {
    n.name = n.base_name = request.exact_name;
  }
  if (detail::has_container(def) && !state.container.empty() && !n.attrs.has("container"))
    n.attrs.set("container", state.container);
  try {
    check_attributes(def, n);
    check_input_count(def, n);
    shape_context shapes(g, n);
    def.infer(shapes);
    for (const output_type& made : n.outputs)
      if (!countable(made.shape))
        throw error(errc::resource_exhausted,
                    "it yields a tensor of shape " + to_string(made.shape) + ", which no memory holds");
  } catch (...) {
    throw current_error().at_node(n.base_name, n.op, to_string(n.where));
  }
  if (!detail::stand_with_states(n, g, def)) detail::stand_with_anchors(n, g, state.colocation);
  if (state.graph != &g && n.scope) {  // guards do not settle another graph as they close
    resolve_request(n);
    n.scope = nullptr;
  }
  return g.add(std::move(n), request.may_be_absorbed);
}

}}  // namespace pinion::v0
