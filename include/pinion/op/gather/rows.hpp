// Rows of tensors by index: the checks that hosts and GPUs share.
#pragma once

#include <cstdint>
#include <string>

#include <pinion/op/gather/op.hpp>
#include <pinion/opkit/axes.hpp>

namespace pinion { inline namespace v0 { namespace op { namespace detail {

// A tensor seen as [outer, rows, inner], where `rows` is one of its axes.
struct rows_along {
  std::int64_t outer = 1, rows = 1, inner = 1;

  rows_along(const shape& s, std::int64_t attribute) {
    if (s.rank() == 0) throw error(errc::invalid_argument, "a scalar has no rows");
    const int axis = checked_axis(attribute, s.rank());
    for (int i = 0; i < axis; ++i) outer *= s[i];
    rows = s[axis];
    for (int i = axis + 1; i < s.rank(); ++i) inner *= s[i];
  }
};

// The error for an index at a position that is not in [0, rows).
inline error wrong_index(std::int64_t position, std::int64_t index, std::int64_t rows) {
  return error(errc::invalid_argument, "index " + std::to_string(index) + " at position " + std::to_string(position) +
                                           " is not in [0, " + std::to_string(rows) + ")");
}

// Throws invalid_argument where rows at indices are not rows of a tensor like another one, along an axis.
inline void expect_rows(const shape& rows, const shape& indices, const shape& like, std::int64_t attribute) {
  if (!(rows == chosen_along(like, checked_axis(attribute, like.rank()), indices)))
    throw error(errc::invalid_argument, "rows of shape " + to_string(rows) + " at indices of shape " +
                                            to_string(indices) + " are not rows of a tensor of shape " +
                                            to_string(like));
}

}}}}  // namespace pinion::v0::op::detail
