// Making a node: the one way by which the DSL, gradients and helpers add to a graph.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/graph/graph.hpp>
#include <pinion/opkit/definition.hpp>

namespace pinion { inline namespace v0 {

// Is it one of the library's ops, those of op/catalogue.hpp?
bool is_library_op(std::string_view op);
// The definition of an op by name, the library's or a program's own; throws not_found.
const definition& definition_of(std::string_view op);

struct node_request {
  std::string_view op = {};
  std::string base_name = {};  // made unique; the current name scope is put before it
  std::vector<output> inputs = {};
  attributes attrs = {};
  source_location where = {};
  std::vector<node_id> control_inputs = {};
  bool may_be_absorbed = false;
  bool named = false;           // by its user: it stays a node, though it may be settled late
  std::string exact_name = {};  // instead of base_name: full, and known to be unique
};

// Adds a node to a graph under the scopes open now and returns its id. Throws invalid_argument where the op's shape
// function refuses the inputs, naming the node and the line; the graph is then as it was.
node_id build(graph& g, node_request request);

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/opkit/build.ipp>
#endif
