// The task of a node, as a session places it.
#pragma once

#include <string>

#include <pinion/runtime/session.hpp>

namespace pinion { inline namespace v0 { namespace train {

// Returns the full name of the task to which a session assigns a node, such as "/job:worker/replica:0/task:0": the
// session's own task for a node that asks for no device. It runs nothing, but waits for the task as session::plan does.
// Throws what session::plan throws.
inline std::string task_of(session& on, const operation& node) {
  return to_string(parse_device(on.plan(node).device_of(node.name())).with_type("").with_index(-1));
}

}}}  // namespace pinion::v0::train
