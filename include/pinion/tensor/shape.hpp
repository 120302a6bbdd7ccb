// The shape of a tensor: its dimensions. Some or all of them may be unknown while a graph is built.
//
//   []          a scalar: one element           [50, 784]      50 rows of 784 columns
//   [?, 784]    any number of such rows         <any shape>    not even the rank is known
//
// Elements are stored row-major: the last axis is contiguous. A shape with a dimension of 0 has no elements, and is
// valid.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>

#include <pinion/base/config.hpp>
#include <pinion/base/error.hpp>

namespace pinion { inline namespace v0 {

// A dimension whose extent is known only when the graph runs.
inline constexpr std::int64_t unknown = -1;

// The dimensions of a tensor, row-major, at most max_rank of them. A value that allocates nothing; usable in constant
// expressions. A dimension may be `unknown`, and so may be the rank (`shape::any()`). The shape of a tensor is always
// known. Throws invalid_argument for more than 8 dimensions, and for a dimension below -1.
//
//   pn::shape s{50, 784};
//   pn::shape batch{pn::unknown, 784};
//
// It is what placeholders, variables and reshape take, and what expressions and tensors return:
//
//   if (x.shape().has_rank() && x.shape()[0] == pn::unknown) ...              // the batch is open
//   for (const std::int64_t extent : t.shape().dims()) ...
class shape {
 public:
  // The most dimensions that a tensor has.
  static constexpr int max_rank = 8;
  // Where a step is compiled, unknown extents that are equal have one number from here down, which stands for them. No
  // program gives such an extent.
  static constexpr std::int64_t first_symbol = -(std::int64_t{1} << 62);

  // A scalar.
  constexpr shape() = default;
  // A shape of these dimensions, the outermost first. Braces without numbers are a scalar's: pn::shape{}.
  constexpr shape(std::initializer_list<std::int64_t> dims) {
    for (auto d : dims) push_back(d);
  }
  explicit constexpr shape(std::span<const std::int64_t> dims) {
    for (auto d : dims) push_back(d);
  }
  // A shape of unknown rank. It fits every shape, and every shape fits it.
  static constexpr shape any() {
    shape s;
    s.rank_ = -1;
    return s;
  }
  // A shape whose rank alone is known.
  static constexpr shape unknown_of_rank(int rank) {
    shape s;
    for (int i = 0; i < rank; ++i) s.push_back(unknown);
    return s;
  }

  // True unless the rank is unknown.
  constexpr bool has_rank() const { return rank_ >= 0; }
  // The number of dimensions; -1 if it is unknown.
  constexpr int rank() const { return rank_; }
  // The extent of an axis; -1 if it is unknown. Requires: axis is in [0, rank). Negative axes do not count from the end
  // here.
  constexpr std::int64_t operator[](int axis) const { return dims_[axis]; }
  // Changes the extent of an axis. Requires: axis is in [0, rank).
  constexpr void set(int axis, std::int64_t extent) { dims_[axis] = extent; }
  // All extents; none for a scalar and for an unknown rank.
  constexpr std::span<const std::int64_t> dims() const {
    return {dims_, static_cast<std::size_t>(rank_ < 0 ? 0 : rank_)};
  }
  // True if the rank and all dimensions are known.
  constexpr bool known() const {
    if (rank_ < 0) return false;
    for (auto d : dims())
      if (d < 0) return false;
    return true;
  }
  // The number of elements of a known shape, 1 for a scalar; `unknown` otherwise. Throws resource_exhausted if the
  // number does not fit into 64 bits.
  constexpr std::int64_t count() const {
    if (!known()) return unknown;
    for (auto d : dims())
      if (d == 0) return 0;
    std::int64_t n = 1;
    for (auto d : dims())
      if (__builtin_mul_overflow(n, d, &n)) too_large();
    return n;
  }
  // Adds a dimension behind the others. Throws invalid_argument if there are 8 already, or if the extent is below
  // -1.
  constexpr void push_back(std::int64_t extent) {
    if (rank_ < 0) rank_ = 0;
    if (rank_ == max_rank) throw error(errc::invalid_argument, "a tensor has at most 8 dimensions");
    if (extent < unknown && (extent > first_symbol || extent < first_symbol - (1 << 30)))
      throw error(errc::invalid_argument, "a dimension is neither negative nor below pn::unknown");
    dims_[rank_++] = extent;
  }

  // True if rank and extents are the same; an unknown dimension equals only an unknown one. Use fits() to ask whether
  // two shapes may turn out to be the same.
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

// True if the known extents multiply to at most 2^56, so that arithmetic on counts and bytes does not overflow. Ops
// refuse results beyond that with resource_exhausted, where the node is made.
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

// The shape as text: "[50, 784]", "[?, 784]", "[]" for a scalar, "<any shape>" for an unknown rank.
std::string to_string(const shape& s);

// True if a tensor of shape `value` may be used where `wanted` is declared: known ranks and extents agree.
//
//   fits([50, 784], [?, 784])    true           fits([784], [?, 784])    false
constexpr bool fits(const shape& value, const shape& wanted) {
  if (!value.has_rank() || !wanted.has_rank()) return true;
  if (value.rank() != wanted.rank()) return false;
  for (int i = 0; i < value.rank(); ++i)
    if (value[i] >= 0 && wanted[i] >= 0 && value[i] != wanted[i]) return false;
  return true;
}

// The shape that two shapes broadcast to, by NumPy's rule: aligned at the last axis, extents agree, or one of them is
// 1. Returns false if they clash. An unknown extent beside one above 1 becomes that one.
//
//   [50, 784] and [784]      [50, 784]         [3, 1] and [1, 4]    [3, 4]
//   [50, 784] and [50]       clash             [?, 4] and [1]       [?, 4]
//
// Any number broadcasts: [] with [3] is [3]. An extent of 0 goes with 0 and 1 alone. `result` is not to be used where
// it returns false.
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
    result.set(i, da == 1 ? db : db == 1 || da >= 0 ? da : db >= 0 || da == db ? db : unknown);
  }
  return true;
}

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/tensor/shape.ipp>
#endif
