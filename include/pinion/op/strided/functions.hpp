// Slices as NumPy has them, axes turned round, axes rolled, axes repeated.
//
//   auto row = pn::slice_at(x, 1);                                             // x[1]: [m, n] -> [n]
//   auto odd = pn::slice_at(x, pn::ellipsis, pn::range_of(1, {}, 2));          // x[..., 1::2]
//   auto column = pn::slice_at(x, pn::range_of(), -1, pn::new_axis);           // x[:, -1, None]: [m, n] -> [m, 1]
//   auto last = pn::slice_at(x, pn::range_of(-3));                             // x[-3:]
//   auto back = pn::reverse(x, {0});                                           // x[::-1]
//   auto next = pn::roll(x, 1, -1);                                            // each element one place further
//
// Any dtype; differentiable in float and double, to any order. Extents may be 0. Kernels are of CPUs. Every function
// throws invalid_argument where shapes, axes and entries do not fit, as far as shapes are known; the step fails with
// that code otherwise.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>

#include <pinion/base/config.hpp>
#include <pinion/dsl/node_call.hpp>
#include <pinion/op/strided/op.hpp>

namespace pinion { inline namespace v0 {

// A range of an axis, NumPy's begin:end:step, for slice_at. A bound that is not given, {} or std::nullopt, is the edge
// of the axis: the first element or the end, or the other way round for a step below 0. A negative bound counts from
// the end; one beyond an edge is the edge. Throws nothing: slice_at refuses a step of 0. A value.
//
//   pn::range_of()               // :
//   pn::range_of(2)              // 2:
//   pn::range_of({}, -1)         // :-1
//   pn::range_of(0, 5, 2)        // 0:5:2
//   pn::range_of({}, {}, -1)     // ::-1
struct range_of {
  explicit constexpr range_of(std::optional<std::int64_t> from = {}, std::optional<std::int64_t> before = {},
                              std::int64_t steps = 1)
      : begin(from), end(before), step(steps) {}

  std::optional<std::int64_t> begin, end;
  std::int64_t step;
};

namespace dsl {

struct ellipsis_index {};
struct new_axis_index {};

template <class I>
concept integer_index = std::integral<I> && !std::same_as<I, bool>;
template <class I>
concept slice_index =
    integer_index<I> || std::same_as<I, range_of> || std::same_as<I, ellipsis_index> || std::same_as<I, new_axis_index>;

// The attributes of a strided slice, entry by entry. Not for user code.
class slice_entries {
 public:
  void add(std::int64_t index);
  void add(const range_of& range);
  void add(ellipsis_index);
  void add(new_axis_index);
  attributes attrs() const;

 private:
  void add(std::int64_t begin, std::int64_t end, std::int64_t stride);
  // Sets the bit of the last entry.
  void mark(std::int64_t& mask) const;

  integers begin_, end_, strides_;
  std::int64_t begin_mask_ = 0, end_mask_ = 0, ellipsis_mask_ = 0, new_axis_mask_ = 0, shrink_axis_mask_ = 0;
};
// The index as an integer with a sign. Throws invalid_argument for one that is none of 64 bits.
std::int64_t checked_index(std::uint64_t index);

// The indices of slice_at, beginning with the first one. That one takes the line of the call, since no default argument
// stands behind a pack. Not for user code.
class slice_indices {
 public:
  template <class I>
  requires(!std::same_as<I, ellipsis_index>)
      slice_indices(const I& first, source_location line = source_location::current())
      : where(line) {
    add(first);
  }
  template <class I>
  void add(const I& index) {
    static_assert(
        slice_index<I>,
        "an index of slice_at is an integer, pn::range_of, pn::ellipsis or pn::new_axis; pn::gather takes tensors");
    if constexpr (integer_index<I> && std::unsigned_integral<I>)
      entries.add(checked_index(index));
    else if constexpr (integer_index<I>)
      entries.add(std::int64_t{index});
    else if constexpr (slice_index<I>)
      entries.add(index);
  }

  slice_entries entries;
  source_location where;

 protected:
  explicit slice_indices(source_location line) : where(line) {}
};
// Indices of slice_at that begin with an ellipsis.
class indices_from_ellipsis : public slice_indices {
 public:
  indices_from_ellipsis(ellipsis_index first, source_location line = source_location::current()) : slice_indices(line) {
    entries.add(first);
  }
};

// The node of slice_at. Refuses at compile time more than `most` ellipses among the indices behind the first one.
template <int most, class A, class... I>
auto sliced(A&& x, slice_indices& all, const I&... more) {
  static_assert((0 + ... + int{std::same_as<I, ellipsis_index>}) <= most,
                "slice_at takes one pn::ellipsis: it stands for all axes that no other index takes");
  (all.add(more), ...);
  return node_call<op::strided_slice, value_of<A>>({}, all.where, all.entries.attrs(), std::forward<A>(x));
}

}  // namespace dsl

// Indices of slice_at: all axes that no other index takes, and an axis of extent 1 that x does not have.
inline constexpr dsl::ellipsis_index ellipsis;
inline constexpr dsl::new_axis_index new_axis;

// The elements of x at indices, as NumPy's x[1, 0:5:2, ..., None] takes them: slice_at(x, 1, range_of(0, 5, 2),
// ellipsis, new_axis). From the first axis on, an integer takes one index of an axis, which the result lacks, and a
// negative one counts from the end; range_of takes a range of an axis; ellipsis keeps all axes that no other index
// takes, and stands at the end where it is not given; new_axis adds an axis of extent 1. The result is one node.
//
//   auto y = pn::slice_at(x, 1, pn::range_of(0, 5, 2), pn::ellipsis, pn::new_axis);   // [m, n, k] -> [3, k, 1], n >= 5
//
// The gradient is zero where nothing was taken. Throws invalid_argument for more indices than x has axes, a step of 0,
// and an integer outside of its axis, which is named with its extent. Other types, tensors too, and a second ellipsis
// do not compile. TensorFlow: x[...], which makes StridedSlice.
template <dsl::graph_operand A, class... I>
auto slice_at(A&& x, dsl::slice_indices first, const I&... more) {
  return dsl::sliced<1>(std::forward<A>(x), first, more...);
}
template <dsl::graph_operand A, class... I>
auto slice_at(A&& x, dsl::indices_from_ellipsis first, const I&... more) {
  return dsl::sliced<0>(std::forward<A>(x), first, more...);
}

// Options of strided_slice: bit i of a mask tells about entry i. An entry with its bit in begin_mask or end_mask begins
// or ends at the edge of its axis; in ellipsis_mask it stands for all axes that no other entry takes; in new_axis_mask
// it adds an axis of extent 1; in shrink_axis_mask it takes the index "begin" of its axis, which the result lacks. An
// entry in several of the last three counts for the first of them.
struct strided_slice_options {
  std::int64_t begin_mask = 0, end_mask = 0, ellipsis_mask = 0, new_axis_mask = 0, shrink_axis_mask = 0;
  std::string_view name = {};
};
// The elements begin, begin + stride, ... before end of each axis; axes behind the last entry are kept as they are. A
// negative bound counts from the end, and one beyond an edge is the edge. Without strides all are 1.
//
//   auto y = pn::strided_slice(x, {0, 4}, {2, 0}, {1, -2});           // x[0:2, 4:0:-2]: [m, 5] -> [2, 2], m >= 2
//
// Throws invalid_argument for lists of several lengths, more entries than x has axes, a stride of 0, masks of more bits
// than entries, two ellipses, and an index outside of its axis. The gradient is zero where nothing was taken.
// TensorFlow: tf.strided_slice.
template <dsl::graph_operand A>
auto strided_slice(A&& x, const integers& begin, const integers& end, const integers& strides = {},
                   const strided_slice_options& options = {}, source_location where = source_location::current()) {
  return dsl::node_call<op::strided_slice, dsl::value_of<A>>(
      options.name, where,
      {{"begin", begin},
       {"end", end},
       {"strides", strides.empty() ? integers(begin.size(), 1) : strides},
       {"begin_mask", options.begin_mask},
       {"end_mask", options.end_mask},
       {"ellipsis_mask", options.ellipsis_mask},
       {"new_axis_mask", options.new_axis_mask},
       {"shrink_axis_mask", options.shrink_axis_mask}},
      std::forward<A>(x));
}

// x with the elements of each of these axes in the other order, of the shape of x. A negative axis counts from the
// last. The gradient is turned round too. Throws invalid_argument for an axis that x does not have, and for one that is
// given twice. TensorFlow: tf.reverse.
template <dsl::graph_operand A>
auto reverse(A&& x, const integers& axes, std::string_view name = {},
             source_location where = source_location::current()) {
  return dsl::node_call<op::reverse, dsl::value_of<A>>(name, where, {{"axes", axes}}, std::forward<A>(x));
}

// x with each element moved by shifts[i] places along axes[i], of the shape of x: those that leave an end come in at
// the other. A negative shift moves toward the front, and a negative axis counts from the last. Shifts of an axis that
// is given twice add up. The gradient is rolled back. Throws invalid_argument unless there is one shift for each axis,
// for an axis that x does not have, and for a shift of more than 2^56 places. TensorFlow: tf.roll.
//
//   auto y = pn::roll(x, {1, -1}, {0, 1});                            // y[i, j] = x[i - 1, j + 1]
template <dsl::graph_operand A>
auto roll(A&& x, const integers& shifts, const integers& axes, std::string_view name = {},
          source_location where = source_location::current()) {
  return dsl::node_call<op::roll, dsl::value_of<A>>(name, where, {{"shifts", shifts}, {"axes", axes}},
                                                    std::forward<A>(x));
}
template <dsl::graph_operand A, dsl::integer_index S, dsl::integer_index N>
auto roll(A&& x, S shift, N axis, std::string_view name = {}, source_location where = source_location::current()) {
  return roll(std::forward<A>(x), integers{std::int64_t{shift}}, integers{std::int64_t{axis}}, name, where);
}

// x repeated until it has a shape: extents of x are those of the shape, aligned at the last axis, or 1, and axes that x
// lacks are added at the front. The gradient of an element is the sum over its copies. Throws invalid_argument for an x
// that does not fit, and for a shape with unknown extents. Operands of arithmetic broadcast by themselves. TensorFlow:
// tf.broadcast_to.
//
//   auto rows = pn::broadcast_to(v, {4, 3});                          // [3] -> [4, 3]
template <dsl::graph_operand A>
auto broadcast_to(A&& x, const shape& to, std::string_view name = {},
                  source_location where = source_location::current()) {
  return dsl::node_call<op::broadcast_to, dsl::value_of<A>>(name, where, {{"shape", to}}, std::forward<A>(x));
}

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/op/strided/functions.ipp>
#endif
