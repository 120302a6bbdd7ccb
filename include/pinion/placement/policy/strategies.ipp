// Bodies of <pinion/placement/policy/strategies.hpp>.
#pragma once

#include <cstddef>
#include <string>

#include <pinion/base/md5.hpp>
#include <pinion/placement/policy/strategies.hpp>

namespace pinion::inline v0 {

PINION_DECL int greedy_load_balancing::operator()(const node_view& op, int tasks) {
  loads.resize(static_cast<std::size_t>(tasks));
  const auto least = std::min_element(loads.begin(), loads.end());
  *least += load(op);
  return static_cast<int>(least - loads.begin());
}

PINION_DECL int hashed::operator()(const node_view& op, int tasks) const {
  std::uint64_t rest = 0;
  for (const unsigned char byte : md5(std::string(op.name()) + "_" + std::to_string(seed)))
    rest = (rest * 256 + byte) % static_cast<std::uint64_t>(tasks);
  return static_cast<int>(rest);
}

}  // namespace pinion::inline v0
