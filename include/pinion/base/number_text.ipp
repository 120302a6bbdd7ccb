// Bodies of <pinion/base/number_text.hpp>.
#pragma once

#include <charconv>

#include <pinion/base/number_text.hpp>

namespace pinion { inline namespace v0 {

PINION_DECL std::string number_text(double number) {
  char text[32];
  return {text, std::to_chars(text, text + sizeof text, number).ptr};
}

}}  // namespace pinion::v0
