// Bodies of <pinion/placement/groups.hpp>.
#pragma once

#include <algorithm>

#include <pinion/placement/groups.hpp>

namespace pinion::inline v0 {

PINION_DECL std::uint64_t placement_groups::missing_on(const device_info& d) const {
  std::uint64_t bits = 0;
  for (const auto& op : d.lacks) bits |= bit_of(op);
  return bits;
}

PINION_DECL node_id placement_groups::asked_outside(position i) const {
  const auto at = asked_outside_.find(i);
  return at == asked_outside_.end() ? no_node : at->second;
}

PINION_DECL std::uint64_t placement_groups::bit_of(std::string_view op) const {
  const auto at = std::find(rare_.begin(), rare_.end(), op);
  return at == rare_.end() ? 0 : std::uint64_t{1} << (at - rare_.begin());
}

}  // namespace pinion::inline v0
