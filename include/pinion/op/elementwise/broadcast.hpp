// Walking a broadcast: the output's space is cut into strips, along which each operand advances or stays.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include <pinion/tensor/shape.hpp>

namespace pinion { inline namespace v0 {

// The dimensions of a broadcast, outermost first. Neighbours along which every operand moves alike are merged into one.
// strides[operand] counts elements, and is 0 along an axis over which the operand is repeated; the innermost stride of
// a row-major operand is 1 or 0.
struct broadcast_walk {
  std::vector<std::int64_t> extents;
  std::vector<std::vector<std::int64_t>> strides;

  // Makes the walk. Requires: each operand's shape broadcasts to `space`.
  broadcast_walk(const shape& space, const std::vector<shape>& operands) {
    const int rank = space.rank();
    std::vector<std::vector<std::int64_t>> full;
    for (const shape& s : operands) full.push_back(strides_in(space, s));
    strides.resize(operands.size());
    for (int axis = 0; axis < rank; ++axis) {
      if (space[axis] == 1) continue;
      if (!extents.empty() && mergeable(full, axis, space[axis])) {
        extents.back() *= space[axis];
        for (std::size_t k = 0; k < operands.size(); ++k) strides[k].back() = full[k][static_cast<std::size_t>(axis)];
      } else {
        extents.push_back(space[axis]);
        for (std::size_t k = 0; k < operands.size(); ++k) strides[k].push_back(full[k][static_cast<std::size_t>(axis)]);
      }
    }
    if (extents.empty()) {
      extents.push_back(1);
      for (auto& s : strides) s.push_back(0);
    }
  }

  std::int64_t inner() const { return extents.back(); }
  std::int64_t outer() const {
    std::int64_t n = 1;
    for (std::size_t i = 0; i + 1 < extents.size(); ++i) n *= extents[i];
    return n;
  }
  bool advances(std::size_t operand) const { return strides[operand].back() != 0; }
  static constexpr std::size_t most_operands = 72;
  // A position in the walk: the element of each operand at which the present strip starts. It visits strips in order,
  // and takes no memory from the heap. Requires: there are at most `most_operands`.
  class strip_cursor {
   public:
    strip_cursor(const broadcast_walk& walk, std::int64_t row) : walk_(walk) {
      std::fill_n(offset_.begin(), walk.strides.size(), 0);
      for (std::size_t d = walk.extents.size() - 1; d-- > 0; row /= walk.extents[d]) {
        index_[d] = row % walk.extents[d];
        for (std::size_t k = 0; k < walk.strides.size(); ++k) offset_[k] += index_[d] * walk.strides[k][d];
      }
    }
    std::int64_t offset(std::size_t operand) const { return offset_[operand]; }
    void next() {
      for (std::size_t d = walk_.extents.size() - 1; d-- > 0;) {
        const bool wraps = ++index_[d] == walk_.extents[d];
        const std::int64_t steps = wraps ? 1 - walk_.extents[d] : 1;
        for (std::size_t k = 0; k < walk_.strides.size(); ++k) offset_[k] += steps * walk_.strides[k][d];
        if (!wraps) return;
        index_[d] = 0;
      }
    }

   private:
    const broadcast_walk& walk_;
    std::array<std::int64_t, shape::max_rank> index_;
    std::array<std::int64_t, most_operands> offset_;  // the first of these are set
  };
  strip_cursor cursor(std::int64_t row) const { return {*this, row}; }

 private:
  static std::vector<std::int64_t> strides_in(const shape& space, const shape& s) {
    std::vector<std::int64_t> result(static_cast<std::size_t>(space.rank()), 0);
    std::int64_t stride = 1;
    for (int axis = s.rank() - 1; axis >= 0; --axis) {
      result[static_cast<std::size_t>(axis + space.rank() - s.rank())] = s[axis] == 1 ? 0 : stride;
      stride *= s[axis];
    }
    return result;
  }
  bool mergeable(const std::vector<std::vector<std::int64_t>>& full, int axis, std::int64_t extent) const {
    for (std::size_t k = 0; k < full.size(); ++k)
      if (strides[k].back() != full[k][static_cast<std::size_t>(axis)] * extent) return false;
    return true;
  }
};

}}  // namespace pinion::v0
