// Making a node: the one way by which the DSL, gradients and helpers add to a graph.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <pinion/graph/scopes.hpp>
#include <pinion/op/definition.hpp>
#include <pinion/op/shape_context.hpp>

namespace pinion::inline v0 {

// The definition of an op by name; throws not_found. Filled by op/catalogue.hpp.
// A template only so that a header that builds nodes stands without the catalogue, which needs it.
template <class = void>
const definition& definition_of(std::string_view op);

struct node_request {
  std::string_view op = {};
  std::string base_name = {};  // made unique; the current name scope is put before it
  std::vector<output> inputs = {};
  attributes attrs = {};
  source_location where = {};
  std::vector<node_id> control_inputs = {};
  bool may_be_absorbed = false;
  std::string exact_name = {};  // instead of base_name: full, and known to be unique
};

// Adds a node to a graph under the scopes open now and returns its id. Throws invalid_argument where the op's shape
// function refuses the inputs, naming the node and the line; the graph is then as it was.
PINION_DECL node_id build(graph& g, node_request request);

#if PINION_DEFINE_GRAPH
namespace detail {

// Ops that take a reference or a resource stand where it stands: the guards open now have no say.
inline void stand_with(node& n, const node& anchor) {
  n.scope = nullptr;
  n.requested = anchor.requested;
  n.request_reason = "colocated with " + anchor.name;
  const std::vector<std::string> own{anchor.name};
  for (const std::string& group : anchor.colocation.empty() ? own : anchor.colocation)
    if (std::find(n.colocation.begin(), n.colocation.end(), group) == n.colocation.end()) n.colocation.push_back(group);
}

// The location of the newest input: C++ operators cannot say where they stand.
inline source_location nearest_location(const graph& g, const std::vector<output>& inputs) {
  node_id newest = no_node;
  for (const output& in : inputs) newest = std::max(newest, in.node);
  return newest == no_node ? source_location{} : g.peek(newest).where;
}

}  // namespace detail

PINION_DECL node_id build(graph& g, node_request request) {
  const scope_state& state = scope_state::current();
  const definition& def = definition_of(request.op);
  node n;
  n.op = request.op;
  n.inputs = std::move(request.inputs);
  n.attrs = std::move(request.attrs);
  n.where = request.where.known() ? request.where : detail::nearest_location(g, n.inputs);
  n.control_inputs = current_control_inputs(n.inputs);
  for (node_id id : request.control_inputs)
    if (std::find(n.control_inputs.begin(), n.control_inputs.end(), id) == n.control_inputs.end())
      n.control_inputs.push_back(id);
  n.scope = state.device;
  n.on_host = def.on_host;
  if (request.exact_name.empty()) {
    name_scope::check(request.base_name);
    n.base_name = state.name_prefix + request.base_name;
  } else {
    n.name = n.base_name = request.exact_name;
  }
  if (def.stateful && !state.container.empty() && !n.attrs.has("container")) n.attrs.set("container", state.container);
  try {
    check_input_count(def, n);
    shape_context shapes(g, n);
    def.infer(shapes);
  } catch (...) {
    throw current_error().at_node(n.base_name, n.op, to_string(n.where));
  }
  for (const output& in : n.inputs)
    if (const output_type& t = g.type_of(in); t.reference || t.resource) detail::stand_with(n, g[in.node]);
  for (auto at = state.colocation.rbegin(); at != state.colocation.rend(); ++at) {
    const auto outer = n.scope;  // guards opened inside the scope ask first, then the anchor's device overrides them
    resolve_request(n);
    const device_spec asked = n.requested;
    detail::stand_with(n, g[*at]);
    n.requested = merge(asked, n.requested);
  }
  return g.add(std::move(n), request.may_be_absorbed);
}
#endif

}  // namespace pinion::inline v0
