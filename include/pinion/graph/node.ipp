// Bodies of <pinion/graph/node.hpp>.
#pragma once

#include <pinion/graph/node.hpp>

namespace pinion { inline namespace v0 {

PINION_DECL std::string output_name(const node& n, int index) {
  return index == 0 ? n.name : n.name + ":" + std::to_string(index);
}

}}  // namespace pinion::v0
