// Elements at equal distances: slices with strides, as NumPy has them; axes turned round; axes rolled; axes
// repeated.
//
// A slice has a list of entries. Each takes a range of an axis of x or one index of it, adds an axis of extent 1, or
// stands for all axes that no other entry takes: attributes "begin", "end" and "strides" have one number for each
// entry, and bit i of a mask tells about entry i.
#pragma once

#include <cstddef>

#include <pinion/base/config.hpp>
#include <pinion/opkit/attribute_list.hpp>
#include <pinion/opkit/definition.hpp>

namespace pinion { inline namespace v0 { namespace op {

// The base of ops that move elements and compute nothing, on hosts.
struct striding {
  static constexpr kernel_set kernels{.cpu = dtypes::all, .gpu = {}};
  static constexpr bool bears_changing_inputs = true;
};

namespace detail {

// A slice may take an index of each axis, add as many axes as a tensor has, and have an ellipsis.
inline constexpr int most_entries = 2 * shape::max_rank + 1;

constexpr attribute_rule strided_list(std::string_view name) {
  return attr::integers(name).up_to(static_cast<std::size_t>(most_entries));
}
constexpr attribute_rule strided_mask(std::string_view name) {
  return attr::integer(name).between(0, (std::int64_t{1} << most_entries) - 1).optional();
}

}  // namespace detail

// The elements of x that the entries take. Masks are 0 where they are not given.
struct strided_slice : striding {
  static constexpr std::string_view name = "StridedSlice";
  static constexpr input_count inputs = 1;
  static constexpr attribute_list attrs{
      detail::strided_list("begin"),         detail::strided_list("end"),
      detail::strided_list("strides"),       detail::strided_mask("begin_mask"),
      detail::strided_mask("end_mask"),      detail::strided_mask("ellipsis_mask"),
      detail::strided_mask("new_axis_mask"), detail::strided_mask("shrink_axis_mask")};
  static void infer(shape_context& c);
  static void gradient(gradient_context& g);
};

// (dy, like) -> zeros of the shape of `like`, with the elements of dy where StridedSlice takes them.
struct strided_slice_grad : striding {
  static constexpr std::string_view name = "StridedSliceGrad";
  static constexpr input_count inputs = 2;
  static constexpr attribute_list attrs = strided_slice::attrs;
  static constexpr int reads = 1;
  static void infer(shape_context& c);
  static void gradient(gradient_context& g);
};

// x with each of its "axes" the other way round.
struct reverse : striding {
  static constexpr std::string_view name = "ReverseV2";
  static constexpr input_count inputs = 1;
  static constexpr attribute_list attrs{attr::integers("axes")};
  static void infer(shape_context& c);
  static void gradient(gradient_context& g);
};

// x with each element moved by "shifts" along "axes", one shift for each axis; those that leave an end come in at the
// other. Shifts of an axis that is given twice add up.
struct roll : striding {
  static constexpr std::int64_t farthest = std::int64_t{1} << 56;  // sums and negatives of shifts are integers too
  static constexpr std::string_view name = "Roll";
  static constexpr input_count inputs = 1;
  static constexpr attribute_list attrs{attr::integers("shifts").between(-farthest, farthest), attr::integers("axes")};
  static void infer(shape_context& c);
  static void gradient(gradient_context& g);
};

// x repeated until it has the shape "shape", which is known: aligned at the last axis, extents of x agree with it or
// are 1.
struct broadcast_to : striding {
  static constexpr std::string_view name = "BroadcastTo";
  static constexpr input_count inputs = 1;
  static constexpr attribute_list attrs{attr::shape("shape")};
  static void infer(shape_context& c);
  static void gradient(gradient_context& g);
};

namespace detail {
// Throws invalid_argument for an x that does not broadcast to a shape, as far as its extents are known.
void expect_broadcast(const shape& x, const shape& to);
}  // namespace detail

}}}  // namespace pinion::v0::op

#if PINION_HEADER_ONLY
#include <pinion/op/strided/op.ipp>
#endif
