// A box of a tensor whose elements stand at equal distances along each axis.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <pinion/op/strided/spec.hpp>

namespace pinion { inline namespace v0 { namespace op { namespace detail {

// The elements of x that ranges of its axes take, row by row. Axes that lie in one line are joined, so that elements
// which are neighbours in both tensors make long lines. An immutable value.
class strided_box {
 public:
  // Requires: the shape is known, and each of its axes has a range.
  strided_box(const std::vector<axis_range>& ranges, const shape& x) {
    std::int64_t distance = 1;
    for (auto r = ranges.rbegin(); r != ranges.rend(); ++r) {
      if (r->axis < 0) continue;
      base_ += r->begin * distance;
      add(r->size, r->step * distance);
      distance *= x[r->axis];
    }
  }

  std::int64_t count() const {
    std::int64_t n = 1;
    for (int i = 0; i < rank_; ++i) n *= axes_[static_cast<std::size_t>(i)].size;
    return n;
  }
  // Tells whether the box is a tensor of so many elements, one after the other.
  bool is_all_of(std::int64_t elements) const { return rank_ == 1 && axes_[0].step == 1 && axes_[0].size == elements; }

  // Calls f(element, place, n, step) for lines that make up the elements [first, last) of the box: `element` is the
  // number of the first one in the box, `place` where it is in x, and the others follow in steps.
  template <class F>
  void for_lines(std::int64_t first, std::int64_t last, F&& f) const {
    std::array<std::int64_t, shape::max_rank> index{};
    std::int64_t place = base_, rest = first;
    for (std::size_t i = 0; i < index.size() && static_cast<int>(i) < rank_; rest /= axes_[i++].size) {
      index[i] = rest % axes_[i].size;
      place += index[i] * axes_[i].step;
    }
    while (first < last) {
      const std::int64_t n = std::min(last - first, axes_[0].size - index[0]);
      f(first, place, n, axes_[0].step);
      first += n, index[0] += n, place += n * axes_[0].step;
      for (std::size_t i = 0; static_cast<int>(i) + 1 < rank_ && index[i] == axes_[i].size; ++i) {
        place += axes_[i + 1].step - axes_[i].size * axes_[i].step;
        index[i] = 0, ++index[i + 1];
      }
    }
  }

 private:
  struct line {
    std::int64_t size = 1, step = 1;
  };
  // Adds an axis around the others.
  void add(std::int64_t size, std::int64_t step) {
    line& last = axes_[static_cast<std::size_t>(rank_ - 1)];
    if (size == 1) return;
    if (last.size == 1)
      last = {size, step};
    else if (step == last.size * last.step)
      last.size *= size;
    else
      axes_[static_cast<std::size_t>(rank_++)] = {size, step};
  }

  std::array<line, shape::max_rank> axes_{};  // the innermost first
  int rank_ = 1;
  std::int64_t base_ = 0;
};

}}}}  // namespace pinion::v0::op::detail
