// Bodies of <pinion/tensor/shape.hpp>.
#pragma once

#include <pinion/tensor/shape.hpp>

namespace pinion { inline namespace v0 {

PINION_DECL std::string to_string(const shape& s) {
  if (!s.has_rank()) return "<any shape>";
  std::string text = "[";
  for (int i = 0; i < s.rank(); ++i) {
    if (i) text += ", ";
    text += s[i] < 0 ? "?" : std::to_string(s[i]);
  }
  return text + "]";
}

PINION_DECL void shape::too_large() const {
  throw error(errc::resource_exhausted, "no memory holds a tensor of shape " + to_string(*this));
}

}}  // namespace pinion::v0
