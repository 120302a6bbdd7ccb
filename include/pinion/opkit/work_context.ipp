// Bodies of <pinion/opkit/work_context.hpp>.
#pragma once

#include <pinion/opkit/work_context.hpp>

namespace pinion { inline namespace v0 {

PINION_DECL double work_context::extent(const shape& s, int axis) const {
  const bool known = s.has_rank() && axis < s.rank() && s[axis] >= 0;
  return static_cast<double>(known ? s[axis] : unknown_);
}

PINION_DECL double work_context::count(const shape& s) const {
  double n = 1;
  if (!s.has_rank()) return static_cast<double>(unknown_);
  for (int i = 0; i < s.rank(); ++i) n *= extent(s, i);
  return n;
}

PINION_DECL double work_context::elements() const {
  double sum = 0;
  for (int i = 0; i < outputs(); ++i) sum += count(output(i).shape);
  for (int i = 0; i < inputs() && outputs() == 0; ++i) sum += count(input(i).shape);
  return sum;
}

}}  // namespace pinion::v0
