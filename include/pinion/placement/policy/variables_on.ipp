// Bodies of <pinion/placement/policy/variables_on.hpp>.
#pragma once

#include <pinion/op/variable/op.hpp>
#include <pinion/placement/policy/variables_on.hpp>

namespace pinion { inline namespace v0 {

PINION_DECL device_spec variables_on::operator()(const node_view& op) const {
  return op.is<op::variable>() ? merge(device_, op.device()) : op.device();
}

}}  // namespace pinion::v0
