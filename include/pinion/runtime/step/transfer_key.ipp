// Bodies of <pinion/runtime/step/transfer_key.hpp>.
#pragma once

#include <pinion/runtime/step/transfer_key.hpp>

namespace pinion { inline namespace v0 { namespace runtime {

PINION_DECL std::string transfer_key(std::string_view node, std::string_view what, std::string_view from,
                                     std::string_view to) {
  std::string key;
  key.reserve(node.size() + what.size() + from.size() + to.size() + 3);
  key.append(node).append(":").append(what).append(";").append(from).append(";").append(to);
  return key;
}

}}}  // namespace pinion::v0::runtime
