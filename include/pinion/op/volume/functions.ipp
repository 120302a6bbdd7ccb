// Bodies of <pinion/op/volume/functions.hpp>.
#pragma once

#include <string>

#include <pinion/op/volume/functions.hpp>

namespace pinion { inline namespace v0 { namespace dsl {

PINION_DECL attributes window_attributes(const conv3d_options& o) {
  return {{"strides", integers(o.strides.begin(), o.strides.end())},
          {"padding", std::string(o.padding == padding::same ? "SAME" : "VALID")},
          {"dilations", integers(o.dilations.begin(), o.dilations.end())}};
}

PINION_DECL attributes window_attributes(const pool3d_options& o) {
  return {{"strides", integers(o.strides.begin(), o.strides.end())},
          {"padding", std::string(o.padding == padding::same ? "SAME" : "VALID")},
          {"window", integers(o.window.begin(), o.window.end())}};
}

}}}  // namespace pinion::v0::dsl
