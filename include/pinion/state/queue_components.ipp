// Bodies of <pinion/state/queue_components.hpp>.
#pragma once

#include <pinion/state/queue_components.hpp>

namespace pinion { inline namespace v0 { namespace state {

PINION_DECL bool queue_components::known() const {
  for (const shape& s : shapes)
    if (!s.known()) return false;
  return true;
}

PINION_DECL std::string to_string(const queue_components& all) {
  std::string text;
  for (std::size_t i = 0; i < all.size(); ++i)
    text += (i ? ", " : "") + std::string(to_string(all.types[i])) + " " + to_string(all.shapes[i]);
  return text;
}

PINION_DECL void set_components(attributes& attrs, const queue_components& all) {
  for (std::size_t i = 0; i < all.size(); ++i) {
    attrs.set("dtype" + std::to_string(i), all.types[i]);
    attrs.set("shape" + std::to_string(i), all.shapes[i]);
  }
}

PINION_DECL queue_components components_of(const attributes& attrs) {
  queue_components all;
  for (std::size_t i = 0;; ++i) {
    const attribute *const type = attrs.find("dtype" + std::to_string(i)), *const extent =
                                                                               attrs.find("shape" + std::to_string(i));
    const auto* const of = type ? type->get_if<dtype>() : nullptr;
    const auto* const each = extent ? extent->get_if<shape>() : nullptr;
    if (!of || !each) return all;
    all.types.push_back(*of);
    all.shapes.push_back(*each);
  }
}

}}}  // namespace pinion::v0::state
