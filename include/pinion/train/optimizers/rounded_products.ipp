// Bodies of <pinion/train/optimizers/rounded_products.hpp>.
#pragma once

#include <memory>
#include <optional>
#include <utility>

#include <pinion/graph/body.hpp>
#include <pinion/graph/traverse.hpp>
#include <pinion/op/control/bodies.hpp>
#include <pinion/op/matmul/compute_dtype.hpp>
#include <pinion/opkit/build.hpp>
#include <pinion/train/optimizers/rounded_products.hpp>

namespace pinion { inline namespace v0 { namespace train { namespace detail {

// True for a product of float that is computed otherwise so far.
inline bool is_open_product(const node& n, dtype compute) {
  const attribute_list* const attrs = definition_of(n.op).attrs;
  return attrs && attrs->find("compute") && !n.outputs.empty() && n.outputs[0].dtype == dtype::float32 &&
         op::compute_of(n.attrs) != compute;
}

// Tells whether a node is such a product, or has one in a body.
inline bool has_open_products(const node& n, dtype compute) {
  return is_open_product(n, compute) || op::any_body(n, [=](const body& b) {
           for (node_id id = 0; id < b.graph.size(); ++id)
             if (b.graph.contains(id) && has_open_products(b.view()[id], compute)) return true;
           return false;
         });
}

inline void round_products_of(node& n, dtype compute);

// A copy of a body whose products round their operands.
inline shared_body rounded_body(const body& from, dtype compute) {
  auto copy = std::make_shared<body>();
  const graph_view g = from.view();
  for (node_id id = 0; id < g.size(); ++id) {
    std::optional<node> n;
    if (g.contains(id)) {
      n = g[id];
      n->scope = nullptr;
      round_products_of(*n, compute);
    }
    copy->graph.adopt(std::move(n));
  }
  copy->arguments = from.arguments;
  copy->results = from.results;
  copy->targets = from.targets;
  return copy;
}

inline void round_products_of(node& n, dtype compute) {
  if (!has_open_products(n, compute)) return;
  attributes changed = n.attrs;
  if (is_open_product(n, compute)) changed.set("compute", compute);
  for (const auto& [name, value] : n.attrs)
    if (const auto* const b = value.get_if<shared_body>(); b && *b) changed.set(name, rounded_body(**b, compute));
  n.attrs = std::move(changed);
}

PINION_DECL void round_products(graph& g, output end, dtype compute) {
  if (compute == dtype::float32) return;
  for (const node_id id : ancestors(g, {end}, {}))
    if (has_open_products(g[id], compute)) round_products_of(g.change(id), compute);
}

}}}}  // namespace pinion::v0::train::detail
