// The device stack: what the guards around a node ask for.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include <pinion/base/config.hpp>
#include <pinion/graph/node.hpp>

namespace pinion { inline namespace v0 {

// A guard, or the policy that it holds, and what became of it: one that never had a say in a request is worth a word.
struct guard_use {
  std::string_view name;  // "replica_device_setter"; "" of a policy without one, and of a plain guard
  source_location where;
  std::atomic<int> asked{0}, matched{0};
  std::atomic<bool> closed{false};  // of a plain guard
};

// One entry of the device stack: a link of a list that is never changed, so that a node remembers its guards by one
// pointer, and two nodes made under the same guards can be told by comparing it.
struct device_scope {
  enum kind_t { spec, policy, null } kind = spec;
  device_spec own{};
  std::function<device_spec(const node_view&)> choose = {};  // of a policy
  source_location where{};
  std::shared_ptr<guard_use> use = {};  // of a policy, or a plain guard
  std::shared_ptr<const device_scope> outer = {};
  std::string asked_by = {};  // who asks, where the program opened no guard: "forward op MatMul", "node W"
};

// The request of a node: its guards from the innermost outwards. A policy's answer replaces what inner guards gathered;
// a null guard ends the walk. Writes down which guards had a say, and in which fields where they are several.
void resolve_request(node& n);

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/graph/device_scope.ipp>
#endif
