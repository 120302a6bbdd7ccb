// Axes of tensors, which attributes count from the front or, by negative numbers, from the end.
#pragma once

#include <string>

#include <pinion/base/error.hpp>

namespace pinion { inline namespace v0 {

// The axis, counted from the front: -1 of rank 3 is 2. Throws invalid_argument where a tensor of that rank has no such
// axis.
//
// Shape functions call it where the rank is known, and kernels where it was not.
inline int checked_axis(std::int64_t axis, int rank) {
  if (axis < -rank || axis >= rank)
    throw error(errc::invalid_argument, "axis " + std::to_string(axis) + " of a tensor of " + std::to_string(rank) +
                                            " dimensions: axes are in [" + std::to_string(-rank) + ", " +
                                            std::to_string(rank) + ")");
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

}}  // namespace pinion::v0
