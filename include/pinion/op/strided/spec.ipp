// Bodies of <pinion/op/strided/spec.hpp>.
#pragma once

#include <algorithm>
#include <bit>
#include <string>

#include <pinion/op/strided/spec.hpp>
#include <pinion/opkit/axes.hpp>

namespace pinion { inline namespace v0 { namespace op { namespace detail {

namespace strided {

inline constexpr std::array<std::string_view, 5> mask_names{"begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask",
                                                            "shrink_axis_mask"};

[[noreturn]] inline void refuse(const std::string& sentence) {
  throw error(errc::invalid_argument, sentence);
}

// The elements from `begin` to before `end` by a step that is not 0.
inline std::int64_t steps_between(std::int64_t begin, std::int64_t end, std::int64_t step) {
  if (begin == end || (begin < end) != (step > 0)) return 0;
  return (end - begin - (step > 0 ? 1 : -1)) / step + 1;
}

}  // namespace strided

PINION_DECL shape sliced_shape(const std::vector<axis_range>& ranges) {
  shape y;
  for (const axis_range& range : ranges)
    if (!range.is_dropped) y.push_back(range.size);
  return y;
}

PINION_DECL std::vector<int> reversed_axes(const integers& axes, const shape& x) {
  std::vector<int> all;
  for (const std::int64_t given : axes) {
    const int axis = checked_axis(given, x.rank());
    if (std::find(all.begin(), all.end(), axis) != all.end())
      strided::refuse("axis " + std::to_string(axis) + " of a tensor of shape " + to_string(x) +
                      " is turned round twice; name it once");
    all.push_back(axis);
  }
  return all;
}

PINION_DECL void expect_sliced(const shape& dy, const shape& slice, const shape& like) {
  if (!fits(dy, slice))
    strided::refuse("a gradient of shape " + to_string(dy) + " does not fit a slice of shape " + to_string(slice) +
                    " of a tensor of shape " + to_string(like));
}

PINION_DECL strided_spec::strided_spec(const attributes& attrs)
    : begin_(attrs.get<integers>("begin")), end_(attrs.get<integers>("end")), strides_(attrs.get<integers>("strides")) {
  if (end_.size() != begin_.size() || strides_.size() != begin_.size())
    strided::refuse("a slice with " + std::to_string(begin_.size()) + " beginnings, " + std::to_string(end_.size()) +
                    " ends and " + std::to_string(strides_.size()) + " strides; each entry has one of each");
  for (std::size_t i = 0; i < masks_.size(); ++i)
    masks_[i] = attrs.get_or(std::string(strided::mask_names[i]), std::int64_t{0});
  check_masks();
  check_strides();
}

PINION_DECL bool strided_spec::has(mask which, std::size_t entry) const {
  return (masks_[which] >> entry & 1) != 0;
}

PINION_DECL int strided_spec::taken_axes() const {
  int n = 0;
  for (std::size_t i = 0; i < begin_.size(); ++i) n += takes_axis(i);
  return n;
}

PINION_DECL void strided_spec::check_masks() const {
  for (std::size_t i = 0; i < masks_.size(); ++i)
    if (masks_[i] >> begin_.size() != 0)
      strided::refuse(std::string(strided::mask_names[i]) + " " + std::to_string(masks_[i]) + " of a slice with " +
                      std::to_string(begin_.size()) + " entries has bits beyond them");
  if (const int n = std::popcount(static_cast<std::uint64_t>(masks_[is_ellipsis])); n > 1)
    strided::refuse("a slice with " + std::to_string(n) +
                    " ellipses; one stands for all axes that no other entry takes");
}

PINION_DECL void strided_spec::check_strides() const {
  for (std::size_t i = 0; i < strides_.size(); ++i) {
    if (!takes_axis(i)) continue;
    if (strides_[i] == 0)
      strided::refuse("entry " + std::to_string(i) + " of a slice has stride 0; strides are above or below it");
    if (has(is_index, i) && strides_[i] < 0)
      strided::refuse("entry " + std::to_string(i) + " of a slice is an index, and its stride " +
                      std::to_string(strides_[i]) + " is not 1");
  }
}

PINION_DECL std::vector<axis_range> strided_spec::ranges(const shape& x) const {
  int axis = 0, others = x.rank() - taken_axes();  // the axes that no entry takes
  if (others < 0)
    strided::refuse("a slice takes " + std::to_string(taken_axes()) + " axes of a tensor of shape " + to_string(x) +
                    ", which has " + std::to_string(x.rank()));
  std::vector<axis_range> all;
  const auto add_others = [&] {
    for (; others > 0; --others, ++axis) all.push_back({.axis = axis, .size = x[axis]});
  };
  for (std::size_t i = 0; i < begin_.size(); ++i)
    if (has(is_ellipsis, i))
      add_others();
    else if (has(is_new_axis, i))
      all.push_back({});
    else
      all.push_back(along(axis, x, i)), ++axis;
  add_others();  // those behind the last entry, where there is no ellipsis
  return all;
}

PINION_DECL axis_range strided_spec::index_along(int axis, const shape& x, std::size_t entry) const {
  const std::int64_t index = begin_[entry], n = x[axis];
  if (n >= 0 && (index < -n || index >= n))
    strided::refuse("index " + std::to_string(index) + " along axis " + std::to_string(axis) +
                    " of a tensor of shape " + to_string(x) + ": indices are in [" + std::to_string(-n) + ", " +
                    std::to_string(n) + ")");
  return {.axis = axis, .begin = n >= 0 && index < 0 ? index + n : index, .is_dropped = true};
}

PINION_DECL axis_range strided_spec::along(int axis, const shape& x, std::size_t entry) const {
  if (has(is_index, entry)) return index_along(axis, x, entry);
  const bool from_edge = has(begins_at_edge, entry), to_edge = has(ends_at_edge, entry);
  const std::int64_t step = strides_[entry], n = x[axis];
  if (n < 0) {
    const bool is_all = from_edge && to_edge && (step == 1 || step == -1);
    return {.axis = axis, .step = step, .size = is_all ? n : unknown};
  }
  const std::int64_t first = step > 0 ? 0 : n - 1, behind = step > 0 ? n : -1;
  const auto inside = [&](std::int64_t place) {
    return std::clamp(place < 0 ? place + n : place, std::min(first, behind), std::max(first, behind));
  };
  const std::int64_t begin = from_edge ? first : inside(begin_[entry]), end = to_edge ? behind : inside(end_[entry]);
  const std::int64_t size = strided::steps_between(begin, end, step);
  return {.axis = axis, .begin = begin, .step = size > 1 ? step : 1, .size = size};
}

}}}}  // namespace pinion::v0::op::detail
