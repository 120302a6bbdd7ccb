// Bodies of <pinion/placement/policy/round_robin_over.hpp>.
#pragma once

#include <pinion/placement/policy/round_robin_over.hpp>

namespace pinion { inline namespace v0 {

PINION_DECL round_robin_over::round_robin_over(std::initializer_list<std::string_view> devices) {
  for (const std::string_view text : devices) devices_.push_back(parse_device(text));
  expect_some();
}

PINION_DECL device_spec round_robin_over::operator()(const node_view& op) {
  if (!op.device().type().empty()) return op.device();
  return merge(devices_[next_++ % devices_.size()], op.device());
}

PINION_DECL void round_robin_over::expect_some() const {
  if (devices_.empty()) throw error(errc::invalid_argument, "round_robin_over has no devices to deal nodes out to");
}

}}  // namespace pinion::v0
