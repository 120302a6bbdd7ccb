// Bodies of <pinion/graph/attribute.hpp>.
#pragma once

#include <algorithm>

#include <pinion/graph/attribute.hpp>

namespace pinion::inline v0 {

PINION_DECL attributes::attributes(std::initializer_list<std::pair<std::string_view, attribute>> items) {
  for (auto& [name, value] : items) set(name, value);
}

PINION_DECL void attributes::set(std::string_view name, attribute value) {
  const auto at = lower(name);
  if (at != items_.end() && at->first == name)
    at->second = std::move(value);
  else
    items_.emplace(at, std::string(name), std::move(value));
}

PINION_DECL const attribute* attributes::find(std::string_view name) const {
  const auto at = const_cast<attributes*>(this)->lower(name);
  return at != items_.end() && at->first == name ? &at->second : nullptr;
}

PINION_DECL attributes::list::iterator attributes::lower(std::string_view name) {
  return std::lower_bound(items_.begin(), items_.end(), name, [](const auto& item, auto n) { return item.first < n; });
}

}  // namespace pinion::inline v0
