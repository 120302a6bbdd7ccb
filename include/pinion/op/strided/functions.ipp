// Bodies of <pinion/op/strided/functions.hpp>.
#pragma once

#include <string>
#include <utility>

#include <pinion/op/strided/functions.hpp>

namespace pinion { inline namespace v0 { namespace dsl {

PINION_DECL std::int64_t checked_index(std::uint64_t index) {
  if (!std::in_range<std::int64_t>(index))
    throw error(errc::invalid_argument, "index " + std::to_string(index) + " is beyond every axis; -1 is the last one");
  return static_cast<std::int64_t>(index);
}

PINION_DECL void slice_entries::add(std::int64_t begin, std::int64_t end, std::int64_t stride) {
  begin_.push_back(begin), end_.push_back(end), strides_.push_back(stride);
  if (static_cast<int>(begin_.size()) > op::detail::most_entries)
    throw error(errc::invalid_argument, "a slice has at most " + std::to_string(op::detail::most_entries) +
                                            " indices: one for each axis, as many new axes, and an ellipsis");
}

PINION_DECL void slice_entries::mark(std::int64_t& mask) const {
  mask |= std::int64_t{1} << (begin_.size() - 1);
}

// The end of an index is not read.
PINION_DECL void slice_entries::add(std::int64_t index) {
  add(index, index, 1);
  mark(shrink_axis_mask_);
}

PINION_DECL void slice_entries::add(const range_of& range) {
  add(range.begin.value_or(0), range.end.value_or(0), range.step);
  if (!range.begin) mark(begin_mask_);
  if (!range.end) mark(end_mask_);
}

PINION_DECL void slice_entries::add(ellipsis_index) {
  add(0, 0, 1);
  mark(ellipsis_mask_);
}

PINION_DECL void slice_entries::add(new_axis_index) {
  add(0, 0, 1);
  mark(new_axis_mask_);
}

PINION_DECL attributes slice_entries::attrs() const {
  return {{"begin", begin_},
          {"end", end_},
          {"strides", strides_},
          {"begin_mask", begin_mask_},
          {"end_mask", end_mask_},
          {"ellipsis_mask", ellipsis_mask_},
          {"new_axis_mask", new_axis_mask_},
          {"shrink_axis_mask", shrink_axis_mask_}};
}

}}}  // namespace pinion::v0::dsl
