// Bodies of <pinion/op/conv/functions.hpp>.
#pragma once

#include <string>

#include <pinion/op/conv/functions.hpp>

namespace pinion { inline namespace v0 { namespace dsl {

PINION_DECL attributes window_attributes(const std::array<std::int64_t, 2>& strides, padding around) {
  return {{"strides", integers(strides.begin(), strides.end())},
          {"padding", std::string(around == padding::same ? "SAME" : "VALID")}};
}

}}}  // namespace pinion::v0::dsl
