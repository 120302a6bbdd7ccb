// The entries of a strided slice, and what they take of a tensor.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/graph/node.hpp>
#include <pinion/tensor/shape.hpp>

namespace pinion { inline namespace v0 { namespace op { namespace detail {

// A part of one axis: the elements begin, begin + step, ..., `size` in all. A size below 0 is not known, and neither is
// begin then.
struct axis_range {
  int axis = -1;  // of x; below 0 for an axis of extent 1 that the slice adds
  std::int64_t begin = 0, step = 1, size = 1;
  bool is_dropped = false;  // the result lacks the axis, of which one index was taken
};

// The shape of the elements that ranges take.
shape sliced_shape(const std::vector<axis_range>& ranges);

// The axes that are turned round, counted from the front. Throws invalid_argument for one that x does not have, and for
// one that is named twice.
std::vector<int> reversed_axes(const integers& axes, const shape& x);

// Throws invalid_argument where a gradient does not have the shape of the slice of a tensor of shape `like`.
void expect_sliced(const shape& dy, const shape& slice, const shape& like);

// The entries of a slice, checked as far as they do not depend on a tensor. An immutable value.
class strided_spec {
 public:
  // Throws invalid_argument for lists of several lengths, masks of more bits than entries, several ellipses, a stride
  // of 0, and a negative one beside an index.
  explicit strided_spec(const attributes& attrs);

  // The parts of all axes of x in their order, and the new axes between them. An extent that is not known is not
  // computed with. Throws invalid_argument for more entries than x has axes, and for an index outside of its axis.
  // Requires: the rank is known.
  std::vector<axis_range> ranges(const shape& x) const;

 private:
  // Bits of a mask, in the order of `masks_`.
  enum mask { begins_at_edge, ends_at_edge, is_ellipsis, is_new_axis, is_index, masks };
  bool has(mask which, std::size_t entry) const;
  bool takes_axis(std::size_t entry) const { return !has(is_ellipsis, entry) && !has(is_new_axis, entry); }
  int taken_axes() const;
  axis_range along(int axis, const shape& x, std::size_t entry) const;
  axis_range index_along(int axis, const shape& x, std::size_t entry) const;
  void check_masks() const;
  void check_strides() const;

  integers begin_, end_, strides_;
  std::array<std::int64_t, masks> masks_{};
};

}}}}  // namespace pinion::v0::op::detail

#if PINION_HEADER_ONLY
#include <pinion/op/strided/spec.ipp>
#endif
