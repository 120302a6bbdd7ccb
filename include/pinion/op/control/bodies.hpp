// What is known of the bodies of control flow: what runs in them, and what cannot be computed again.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <pinion/graph/body.hpp>
#include <pinion/graph/traverse.hpp>
#include <pinion/op/build.hpp>
#include <pinion/op/state_key.hpp>

namespace pinion::inline v0::op {

bool is_repeatable(const graph& g, const node& n);

// Does it hold of a body of a node? Of most nodes there is none.
template <class Predicate>
bool any_body(const node& n, Predicate&& holds) {
  for (const auto& [name, value] : n.attrs)
    if (const auto* b = std::get_if<shared_body>(&value); b && *b && holds(**b)) return true;
  return false;
}

// The nodes that a body runs, ascending.
inline std::vector<node_id> nodes_of(const body& b) {
  return ancestors(b.graph, b.results, b.targets, b.arguments);
}

// Would every node of it yield the same again?
inline bool is_repeatable(const body& b) {
  for (const node_id id : nodes_of(b))
    if (!is_repeatable(b.graph, b.graph.peek(id))) return false;
  return true;
}

// Does a node yield the same whenever it runs on the same inputs, and change nothing? Not one that draws numbers, that
// reads or writes a state, or that has such a node in a body. `type_of` tells of its inputs.
template <class TypeOf>
bool is_repeatable(const node& n, TypeOf&& type_of) {
  if (definition_of(n.op).stateful) return false;
  for (const output& in : n.inputs)
    if (type_of(in).reference || type_of(in).resource) return false;
  return !any_body(n, [](const body& b) { return !is_repeatable(b); });
}
inline bool is_repeatable(const graph& g, const node& n) {
  return is_repeatable(n, [&g](const output& in) -> const output_type& { return g.type_of(in); });
}

// The outputs in a body that a second run would not yield again: to differentiate it, they are kept from the first.
inline std::vector<output> unrepeatable_outputs(const body& b) {
  std::vector<output> all;
  for (const node_id id : nodes_of(b)) {
    const node& n = b.graph.peek(id);
    if (is_repeatable(b.graph, n)) continue;
    for (int o = 0; o < static_cast<int>(n.outputs.size()); ++o) {
      const output out{id, o};
      const bool given = std::find(b.arguments.begin(), b.arguments.end(), out) != b.arguments.end();
      const output_type& type = n.outputs[static_cast<std::size_t>(o)];
      if (!type.reference && !type.resource && !given) all.push_back(out);
    }
  }
  return all;
}

// Does a body read the state of that container and name?
inline bool reads_state(const body& b, const std::pair<std::string, std::string>& key) {
  for (const node_id id : nodes_of(b)) {
    const node& n = b.graph.peek(id);
    for (const output& in : n.inputs)
      if (n.op == "Identity" && b.graph.type_of(in).reference && state_key(b.graph.peek(in.node)) == key) return true;
    if (any_body(n, [&](const body& inner) { return reads_state(inner, key); })) return true;
  }
  return false;
}

inline const output_type& argument_type(const body& b, std::size_t i) {
  return b.graph.type_of(b.arguments[i]);
}
inline const output_type& result_type(const body& b, std::size_t i) {
  return b.graph.type_of(b.results[i]);
}

// A new argument of a body under construction.
inline output add_argument(body& b, const output_type& type, std::string_view base_name, source_location where = {}) {
  const auto use = b.graph.as_default();
  b.arguments.push_back({build(b.graph, {.op = "Placeholder",
                                         .base_name = std::string(base_name),
                                         .attrs = {{"dtype", type.dtype}, {"shape", type.shape}},
                                         .where = where}),
                         0});
  return b.arguments.back();
}

inline std::vector<node_id> nodes_of(const std::vector<output>& outputs) {
  std::vector<node_id> ids;
  for (const output& o : outputs) ids.push_back(o.node);
  return ids;
}

// What fits both shapes.
inline shape common_shape(const shape& a, const shape& b) {
  if (!a.has_rank() || !b.has_rank() || a.rank() != b.rank()) return shape::any();
  shape y = a;
  for (int i = 0; i < a.rank(); ++i)
    if (a[i] != b[i]) y.set(i, unknown);
  return y;
}

}  // namespace pinion::inline v0::op
