// The extent of a tensor: its dimensions, some or all of which may be unknown while a graph is built.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>

#include <pinion/base/config.hpp>
#include <pinion/base/error.hpp>

namespace pinion { inline namespace v0 {

// A dimension whose extent is found only when the graph runs.
inline constexpr std::int64_t unknown = -1;

// A value without allocation; at most max_rank dimensions, row-major. A dimension may be `unknown`, and so may the
// rank (`shape::any()`). Tensors always have known shapes.
class shape {
 public:
  static constexpr int max_rank = 8;

  constexpr shape() = default;  // a scalar
  constexpr shape(std::initializer_list<std::int64_t> dims) {
    for (auto d : dims) push_back(d);
  }
  explicit constexpr shape(std::span<const std::int64_t> dims) {
    for (auto d : dims) push_back(d);
  }
  static constexpr shape any() {
    shape s;
    s.rank_ = -1;
    return s;
  }
  static constexpr shape unknown_of_rank(int rank) {
    shape s;
    for (int i = 0; i < rank; ++i) s.push_back(unknown);
    return s;
  }

  constexpr bool has_rank() const { return rank_ >= 0; }
  constexpr int rank() const { return rank_; }  // -1: unknown
  constexpr std::int64_t operator[](int axis) const { return dims_[axis]; }
  constexpr void set(int axis, std::int64_t extent) { dims_[axis] = extent; }
  constexpr std::span<const std::int64_t> dims() const {
    return {dims_, static_cast<std::size_t>(rank_ < 0 ? 0 : rank_)};
  }
  constexpr bool known() const {
    if (rank_ < 0) return false;
    for (auto d : dims())
      if (d < 0) return false;
    return true;
  }
  // Elements of a known shape; 1 for a scalar; `unknown` otherwise. Throws resource_exhausted where no number of 64
  // bits counts them.
  constexpr std::int64_t count() const {
    if (!known()) return unknown;
    for (auto d : dims())
      if (d == 0) return 0;
    std::int64_t n = 1;
    for (auto d : dims())
      if (__builtin_mul_overflow(n, d, &n)) too_large();
    return n;
  }
  // Requires: rank below max_rank; throws invalid_argument otherwise.
  constexpr void push_back(std::int64_t extent) {
    if (rank_ < 0) rank_ = 0;
    if (rank_ == max_rank) throw error(errc::invalid_argument, "a tensor has at most 8 dimensions");
    if (extent < unknown) throw error(errc::invalid_argument, "a dimension is neither negative nor below pn::unknown");
    dims_[rank_++] = extent;
  }

  friend constexpr bool operator==(const shape& a, const shape& b) {
    if (a.rank_ != b.rank_) return false;
    for (int i = 0; i < a.rank_; ++i)
      if (a.dims_[i] != b.dims_[i]) return false;
    return true;
  }

 private:
  [[noreturn]] void too_large() const;
  std::int64_t dims_[max_rank]{};
  int rank_ = 0;
};

// Do the known extents multiply to what memory could hold, so that no arithmetic on counts and bytes overflows?
constexpr bool countable(const shape& s) {
  constexpr std::int64_t most = std::int64_t{1} << 56;
  std::int64_t product = 1;
  for (const std::int64_t extent : s.dims()) {
    if (extent <= 0) continue;
    if (extent > most / product) return false;
    product *= extent;
  }
  return true;
}

// "[50, 784]", "[?, 784]", "[]" for a scalar, "<any shape>".
std::string to_string(const shape& s);

// Can a tensor of shape `value` stand where `wanted` is declared?
constexpr bool fits(const shape& value, const shape& wanted) {
  if (!value.has_rank() || !wanted.has_rank()) return true;
  if (value.rank() != wanted.rank()) return false;
  for (int i = 0; i < value.rank(); ++i)
    if (value[i] >= 0 && wanted[i] >= 0 && value[i] != wanted[i]) return false;
  return true;
}

// NumPy's rule: align at the last axis; extents agree or one of them is 1. False where they clash.
constexpr bool broadcast(const shape& a, const shape& b, shape& result) {
  if (!a.has_rank() || !b.has_rank()) {
    result = shape::any();
    return true;
  }
  const int rank = a.rank() > b.rank() ? a.rank() : b.rank();
  result = shape::unknown_of_rank(rank);
  for (int i = 0; i < rank; ++i) {
    const int ia = i - (rank - a.rank()), ib = i - (rank - b.rank());
    const std::int64_t da = ia < 0 ? 1 : a[ia], db = ib < 0 ? 1 : b[ib];
    if (da >= 0 && db >= 0 && da != db && da != 1 && db != 1) return false;
    result.set(i, da == 1 ? db : db == 1 ? da : da >= 0 ? da : db);
  }
  return true;
}

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/tensor/shape.ipp>
#endif
