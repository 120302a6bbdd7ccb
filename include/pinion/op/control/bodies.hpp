// What is known of the bodies of control flow: what runs in them, and what cannot be computed again.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/graph/body.hpp>
#include <pinion/graph/traverse.hpp>
#include <pinion/opkit/build.hpp>

namespace pinion { inline namespace v0 { namespace op {

bool is_repeatable(const graph& g, const node& n);

// Does it hold of a body of a node? Of most nodes there is none.
template <class Predicate>
bool any_body(const node& n, Predicate&& holds) {
  for (const attributes::entry& e : n.attrs)
    if (const auto* b = e.value.get_if<shared_body>(); b && *b && holds(**b)) return true;
  return false;
}

// The nodes that a body runs, ascending.
inline std::vector<node_id> nodes_of(const body& b) {
  return ancestors(b.graph, b.results, b.targets, b.arguments);
}

// Would every node of it yield the same again?
bool is_repeatable(const body& b);

// Does a node yield the same whenever it runs on the same inputs, and change nothing? Not one that draws numbers, that
// reads or writes a state, or that has such a node in a body. `type_of` tells of its inputs.
template <class TypeOf>
bool is_repeatable(const node& n, TypeOf&& type_of) {
  if (definition_of(n.op).stateful) return false;
  for (const output& in : n.inputs)
    if (type_of(in).reference || type_of(in).resource) return false;
  return !any_body(n, [](const body& b) { return !is_repeatable(b); });
}
bool is_repeatable(const graph& g, const node& n);

// The outputs in a body that a second run would not yield again: to differentiate it, they are kept from the first.
std::vector<output> unrepeatable_outputs(const body& b);

// Does a body read the state of that container and name?
bool reads_state(const body& b, const std::pair<std::string, std::string>& key);

inline const output_type& argument_type(const body& b, std::size_t i) {
  return b.graph.type_of(b.arguments[i]);
}
inline const output_type& result_type(const body& b, std::size_t i) {
  return b.graph.type_of(b.results[i]);
}

// A new argument of a body under construction.
output add_argument(body& b, const output_type& type, std::string_view base_name, source_location where = {});

std::vector<node_id> nodes_of(const std::vector<output>& outputs);

// What fits both shapes.
shape common_shape(const shape& a, const shape& b);

}}}  // namespace pinion::v0::op

#if PINION_HEADER_ONLY
#include <pinion/op/control/bodies.ipp>
#endif
