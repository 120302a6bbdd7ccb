// Bodies of <pinion/graph/graph_ref.hpp>.
#pragma once

#include <pinion/graph/graph_ref.hpp>

namespace pinion { inline namespace v0 {

PINION_DECL graph& graph_ref::operator*() const {
  if (!life_)
    throw error(errc::invalid_argument, "an expression, variable or operation that was never assigned is used");
  if (graph* const g = get()) return *g;
  throw error(errc::failed_precondition,
              "an expression, variable or operation is used whose graph is gone: it was destroyed, or "
              "reset_default_graph() replaced it; keep the graph as long as what was built in it");
}

PINION_DECL node_id graph_ref::number_in(const graph& in, node_id id, std::string_view whose) const {
  graph& owner = **this;
  if (&owner == &in) return id;
  const node& n = owner[id];
  throw error(errc::invalid_argument, "'" + n.name + "' belongs to another graph than " + std::string(whose) +
                                          "; each thread has a default graph of its own")
      .at_node(n.name, n.op, to_string(n.where));
}

}}  // namespace pinion::v0
