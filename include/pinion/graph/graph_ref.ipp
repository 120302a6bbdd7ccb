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

}}  // namespace pinion::v0
