// The device stack: what the guards around a node ask for.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include <pinion/base/config.hpp>
#include <pinion/graph/node.hpp>

namespace pinion::inline v0 {

// One entry of the device stack: a link of a list that is never changed, so that a node remembers its guards by one
// pointer, and two nodes made under the same guards can be told by comparing it.
struct device_scope {
  enum kind_t { spec, policy, null } kind = spec;
  device_spec own{};
  std::function<device_spec(const node_view&)> choose;  // of a policy
  source_location where{};
  std::shared_ptr<const device_scope> outer;
};

// The request of a node: its guards from the innermost outwards. A policy's answer replaces what inner guards gathered;
// a null guard ends the walk. Writes down which guards had a say.
PINION_DECL void resolve_request(node& n);

#if PINION_DEFINE_GRAPH
PINION_DECL void resolve_request(node& n) {
  device_spec gathered = n.requested;
  for (const device_scope* s = n.scope.get(); s && s->kind != device_scope::null; s = s->outer.get()) {
    const device_spec before = gathered;
    gathered = s->kind == device_scope::policy ? s->choose(node_view(n, gathered)) : merge(s->own, gathered);
    if (gathered == before) continue;
    if (!n.request_reason.empty()) n.request_reason += ", ";
    n.request_reason += s->kind == device_scope::policy ? "policy" : "guard";
    n.request_reason += " at " + to_string(s->where);
  }
  n.requested = gathered;
}
#endif

}  // namespace pinion::inline v0
