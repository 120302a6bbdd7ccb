// Making a node: the one way by which the DSL, gradient functions and helpers add to a graph.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/graph/graph.hpp>
#include <pinion/opkit/definition.hpp>

namespace pinion { inline namespace v0 {

// Tells whether op/catalogue.hpp lists an op of that name.
//
// Registered ops are not among them.
bool is_library_op(std::string_view op);
// The definition of an op by its name, from the library or from those that the program registered. Throws not_found.
//
// The reference is valid to the end of the process. Thread-safe.
const definition& definition_of(std::string_view op);

// A request for a node: the arguments of build() by name. Data, owned by the caller.
//
// A data input of another graph is not noticed here: operands are checked before, by dsl::graph_of.
struct node_request {
  std::string_view op = {};
  std::string base_name = {};  // made unique, after the current name scope
  std::vector<output> inputs = {};
  attributes attrs = {};
  source_location where = {};
  std::vector<node_id> control_inputs = {};
  bool may_be_absorbed = false;
  bool named = false;           // its user named it: it stays a node, though it may be settled late
  std::string exact_name = {};  // full name that no node has yet; replaces base_name
};

// Adds a node to a graph, under the scopes that the thread has open, and returns its id. Throws invalid_argument where
// the op's shape function refuses the inputs, resource_exhausted for an output that no memory holds, and not_found for
// an op that nobody registered. The first two name the node and its line. The graph is then as it was.
//
//   const pn::node_id id = pn::build(g, {.op = "Identity", .base_name = "copy", .inputs = {x.endpoint()}});
//
// Throws failed_precondition for a graph that is finalized.
node_id build(graph& g, node_request request);

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/opkit/build.ipp>
#endif
