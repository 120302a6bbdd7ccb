// The elementwise nodes of a step, as passes see them.
#pragma once

#include <pinion/graph/node.hpp>
#include <pinion/op/elementwise/op.hpp>
#include <pinion/opkit/build.hpp>

namespace pinion { inline namespace v0 { namespace op { namespace detail {

inline bool is_elementwise(const node& n) {
  return n.attrs.has("program") && definition_of(n.op).infer == &op::any_map::infer;
}
inline bool is_map_gradient(const node& n) {
  return n.op == op::map_gradient::name;
}

}}}}  // namespace pinion::v0::op::detail
