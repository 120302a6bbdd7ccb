// Facts about the bodies of control flow: the nodes that run in them, and the values that cannot be computed again.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/graph/body.hpp>
#include <pinion/graph/traverse.hpp>
#include <pinion/opkit/build.hpp>

namespace pinion { inline namespace v0 { namespace op {

// Tells whether a predicate holds of some body of a node. Most nodes have none.
template <class Predicate>
bool any_body(const node& n, Predicate&& holds) {
  for (const attributes::entry& e : n.attrs)
    if (const auto* b = e.value.get_if<shared_body>(); b && *b && holds(**b)) return true;
  return false;
}

// The ids of the nodes that a body runs, ascending.
inline std::vector<node_id> nodes_of(const body& b) {
  return ancestors(b.view(), b.results, b.targets, b.arguments);
}

// Tells whether every node of a body is repeatable.
bool is_repeatable(const body& b);

// Tells whether a node is repeatable: it yields the same whenever it runs on the same inputs, and changes nothing. A
// node is not if it draws random numbers, reads or writes a state, or has such a node in a body. `type_of` gives the
// types of its inputs.
template <class TypeOf>
bool is_repeatable(const node& n, TypeOf&& type_of) {
  if (definition_of(n.op).stateful) return false;
  for (const output& in : n.inputs)
    if (type_of(in).reference || type_of(in).resource) return false;
  return !any_body(n, [](const body& b) { return !is_repeatable(b); });
}
bool is_repeatable(graph_view g, const node& n);

// The outputs in a body that a second run would not yield again. A gradient keeps them from the first run.
std::vector<output> unrepeatable_outputs(const body& b);

// Tells whether a body reads the state with that container and name.
bool reads_state(const body& b, const std::pair<std::string, std::string>& key);

inline const output_type& argument_type(const body& b, std::size_t i) {
  return b.graph.type_of(b.arguments[i]);
}
inline const output_type& result_type(const body& b, std::size_t i) {
  return b.graph.type_of(b.results[i]);
}

// Adds an argument to a body that is being built.
output add_argument(body& b, const output_type& type, std::string_view base_name, source_location where = {});

std::vector<node_id> nodes_of(const std::vector<output>& outputs);

// The shape that admits both: extents in which they differ are unknown, and so is the rank where ranks differ.
shape common_shape(const shape& a, const shape& b);

}}}  // namespace pinion::v0::op

#if PINION_HEADER_ONLY
#include <pinion/op/control/bodies.ipp>
#endif
