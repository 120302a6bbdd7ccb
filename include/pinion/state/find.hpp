// Finding the state that a node names, in the task that runs the node.
#pragma once

#include <memory>
#include <string>
#include <string_view>

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

}}}  // namespace pinion::v0::state
