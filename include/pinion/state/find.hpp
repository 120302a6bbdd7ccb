// Finding the state that a node names, in the task that runs the node.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include <pinion/base/error.hpp>
#include <pinion/graph/node.hpp>
#include <pinion/opkit/services.hpp>
#include <pinion/state/key.hpp>

namespace pinion { inline namespace v0 { namespace state {

// The state under the node's container and its shared name, or its name; make(name) makes it on first use. Throws
// invalid_argument where that name belongs to a state of another kind. `what` names the kind in the error: "a queue".
template <class State, class Make>
std::shared_ptr<State> find(task_services& services, const node& n, std::string_view what, Make&& make) {
  const auto [container, name] = key_of(n);
  const std::string& named = name;
  auto found = services.resources->find_or_create(container, name, [&] { return make(named); });
  auto state = std::dynamic_pointer_cast<State>(found);
  if (!state)
    throw error(errc::invalid_argument, "'" + name + "' is not " + std::string(what) + " but another kind of resource");
  return state;
}

// The error for a node that names a state which another node made first and otherwise. `unlike` says in what the two
// differ, and `here` and `there` how each is: "two queues share the name 'q' but are not the same: ...".
template <class State>
error made_otherwise(const State& first, const std::string& kinds, const std::string& unlike, const std::string& here,
                     const std::string& there) {
  return error(errc::invalid_argument, "two " + kinds + " share the name '" + first.name() + "' but " + unlike + ": " +
                                           here + " here, " + there + " in the one made first" +
                                           (first.made_at().empty() ? "" : " at " + first.made_at()));
}

}}}  // namespace pinion::v0::state
