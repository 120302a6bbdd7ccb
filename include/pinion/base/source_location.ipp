// Bodies of <pinion/base/source_location.hpp>.
#pragma once

#include <pinion/base/source_location.hpp>

namespace pinion { inline namespace v0 {

PINION_DECL std::string to_string(source_location where) {
  return where.known() ? std::string(where.file) + ":" + std::to_string(where.line) : std::string();
}

}}  // namespace pinion::v0
