// Bodies of <pinion/placement/policy/strategies.hpp>.
#pragma once

#include <cstddef>
#include <string>

#include <pinion/base/md5.hpp>
#include <pinion/placement/policy/strategies.hpp>

namespace pinion { inline namespace v0 {

namespace detail {
inline double bytes_of(const node_view& op) {
  return static_cast<double>(std::max<std::int64_t>(op.bytes(), static_cast<std::int64_t>(size_of(op.dtype()))));
}
}  // namespace detail

PINION_DECL int greedy_load_balancing::operator()(const node_view& op, int tasks) {
  loads.resize(static_cast<std::size_t>(tasks));
  const auto least = std::min_element(loads.begin(), loads.end());
  *least += load ? load(op) : detail::bytes_of(op);
  return static_cast<int>(least - loads.begin());
}

PINION_DECL int hashed::operator()(const node_view& op, int tasks) const {
  std::uint64_t rest = 0;
  for (const unsigned char byte : md5(std::string(op.name()) + "_" + std::to_string(seed)))
    rest = (rest * 256 + byte) % static_cast<std::uint64_t>(tasks);
  return static_cast<int>(rest);
}

}}  // namespace pinion::v0
