// The stack of device guards around a node, and the request that follows from it.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include <pinion/base/config.hpp>
#include <pinion/graph/node.hpp>

namespace pinion { inline namespace v0 {

// A guard or policy, with the effect it had. A plan reports one that never took part in a request.
//
// Counts are of nodes: `asked` are those that the guard was asked about, `matched` those in whose request it has a
// part.
struct guard_use {
  std::string_view name;  // "replica_device_setter"; "" for a plain guard, or a policy without a name
  source_location where;
  std::atomic<int> asked{0}, matched{0};
  std::atomic<bool> closed{false};  // of a plain guard
};

// An entry of the device stack, and a link of a list that never changes. A node keeps its guards by one pointer, and
// two nodes were made under the same guards if their pointers are equal.
//
// Users meet it as pn::device. Entries are shared by all nodes that were made under them.
struct device_scope {
  enum kind_t { spec, policy, null } kind = spec;
  device_spec own{};
  std::function<device_spec(const node_view&)> choose = {};  // of a policy
  source_location where{};
  std::shared_ptr<guard_use> use = {};  // of a policy, or of a plain guard
  std::shared_ptr<const device_scope> outer = {};
  std::string asked_by = {};  // its origin, where no guard of the program is one: "forward op MatMul", "node W"
};

// Computes a node's request from its guards, innermost first. The answer of a policy replaces the request gathered by
// the guards inside it; a null guard ends the walk. Records the guards that took part, and if there are several, the
// fields that each of them set.
//
// It is called once for a node, when the graph settles it, in the thread that builds.
void resolve_request(node& n);

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/graph/device_scope.ipp>
#endif
