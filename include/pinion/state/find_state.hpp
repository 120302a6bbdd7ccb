// The state that a node names, in the task that runs it.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include <pinion/graph/node.hpp>
#include <pinion/opkit/services.hpp>
#include <pinion/state/state_key.hpp>

namespace pinion { inline namespace v0 { namespace op {

// Found under the node's container and shared name or name; made by make(name) on first use. Throws invalid_argument
// where the name is that of something else than `what` ("a queue").
template <class State, class Make>
std::shared_ptr<State> find_state(task_services& services, const node& n, std::string_view what, Make&& make) {
  const auto [container, name] = state_key(n);
  const std::string& named = name;
  auto found = services.resources->find_or_create(container, name, [&] { return make(named); });
  auto state = std::dynamic_pointer_cast<State>(found);
  if (!state)
    throw error(errc::invalid_argument, "'" + name + "' is not " + std::string(what) + " but another kind of resource");
  return state;
}

}}}  // namespace pinion::v0::op
