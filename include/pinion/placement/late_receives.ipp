// Bodies of <pinion/placement/late_receives.hpp>.
#pragma once

#include <cstddef>

#include <pinion/placement/late_receives.hpp>

namespace pinion { inline namespace v0 {

PINION_DECL std::vector<int> late_receives(std::span<const std::int64_t> bytes, std::int64_t ahead) {
  std::vector<int> behind(bytes.size(), -1);
  if (ahead <= 0) return behind;
  std::int64_t waiting = 0;
  std::size_t first = 0;  // of those that wait for their readers when value i is received
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    while (first < i && waiting > ahead - bytes[i]) waiting -= bytes[first++];
    waiting += bytes[i];
    behind[i] = static_cast<int>(first) - 1;
  }
  return behind;
}

}}  // namespace pinion::v0
