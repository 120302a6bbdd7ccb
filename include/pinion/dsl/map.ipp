// Bodies of <pinion/dsl/map.hpp>.
#pragma once

#include <pinion/dsl/map.hpp>
#include <pinion/graph/scopes.hpp>

namespace pinion::inline v0::dsl::detail {

PINION_DECL bool can_absorb(const graph& g, const any_expr& e) {
  const node& n = g.peek(e.id());
  const scope_state& state = scope_state::current();
  if (&e.owner() != &g || n.consumers > 0 || n.pinned || n.scope != state.device || !n.attrs.has("program"))
    return false;
  if (n.attrs.get_or("named", false) || !state.colocation.empty() || !n.colocation.empty()) return false;
  if (n.base_name.substr(0, n.base_name.rfind('/') + 1) != state.name_prefix) return false;
  return n.control_inputs == current_control_inputs(n.inputs);
}

}  // namespace pinion::inline v0::dsl::detail
