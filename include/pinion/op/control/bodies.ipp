// Bodies of <pinion/op/control/bodies.hpp>.
#pragma once

#include <algorithm>

#include <pinion/graph/scope_state.hpp>
#include <pinion/op/control/bodies.hpp>
#include <pinion/op/source/op.hpp>
#include <pinion/state/key.hpp>

namespace pinion { inline namespace v0 { namespace op {

PINION_DECL bool is_repeatable(const body& b) {
  const graph_view g = b.view();
  for (const node_id id : nodes_of(b))
    if (!is_repeatable(g, g[id])) return false;
  return true;
}

PINION_DECL bool is_repeatable(graph_view g, const node& n) {
  return is_repeatable(n, [&g](const output& in) -> const output_type& { return g.type_of(in); });
}

PINION_DECL std::vector<output> unrepeatable_outputs(const body& b) {
  const graph_view g = b.view();
  std::vector<output> all;
  for (const node_id id : nodes_of(b)) {
    const node& n = g[id];
    if (is_repeatable(g, n)) continue;
    for (int o = 0; o < static_cast<int>(n.outputs.size()); ++o) {
      const output out{id, o};
      const bool given = std::find(b.arguments.begin(), b.arguments.end(), out) != b.arguments.end();
      const output_type& type = n.outputs[static_cast<std::size_t>(o)];
      if (!type.reference && !type.resource && !given) all.push_back(out);
    }
  }
  return all;
}

PINION_DECL bool reads_state(const body& b, const std::pair<std::string, std::string>& key) {
  const graph_view g = b.view();
  for (const node_id id : nodes_of(b)) {
    const node& n = g[id];
    for (const output& in : n.inputs)
      if (n.op == identity::name && g.type_of(in).reference && state::key_of(g[in.node]) == key) return true;
    if (any_body(n, [&](const body& inner) { return reads_state(inner, key); })) return true;
  }
  return false;
}

PINION_DECL output add_argument(body& b, const output_type& type, std::string_view base_name, source_location where) {
  const auto use = b.graph.as_default();
  b.arguments.push_back({build(b.graph, {.op = placeholder::name,
                                         .base_name = std::string(base_name),
                                         .attrs = {{"dtype", type.dtype}, {"shape", type.shape}},
                                         .where = where}),
                         0});
  return b.arguments.back();
}

PINION_DECL std::vector<node_id> nodes_of(const std::vector<output>& outputs) {
  std::vector<node_id> ids;
  for (const output& o : outputs) ids.push_back(o.node);
  return ids;
}

PINION_DECL shape common_shape(const shape& a, const shape& b) {
  if (!a.has_rank() || !b.has_rank() || a.rank() != b.rank()) return shape::any();
  shape y = a;
  for (int i = 0; i < a.rank(); ++i)
    if (a[i] != b[i]) y.set(i, unknown);
  return y;
}

}}}  // namespace pinion::v0::op
