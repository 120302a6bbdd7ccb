// The name under which the state of a variable, queue or other resource lives.
#pragma once

#include <string>
#include <utility>

#include <pinion/graph/node.hpp>

namespace pinion { inline namespace v0 { namespace state {

// The key of the state that a node names: its container, and its shared name or, where that is empty, its name.
inline std::pair<std::string, std::string> key_of(const node& n) {
  const auto shared = n.attrs.get_or<std::string>("shared_name", "");
  return {n.attrs.get_or<std::string>("container", ""), shared.empty() ? n.name : shared};
}

}}}  // namespace pinion::v0::state
