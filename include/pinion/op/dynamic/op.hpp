// Ops that TensorFlow gives their shapes, boxes and multiples by tensors: the numbers are values of the run. Layout,
// slice and strided have the ops of the same purpose whose numbers are attributes; these run on GPUs, too.
//
// Their names are those of StableHLO, since in this library TensorFlow's names are those of the ops with attributes.
// SplitV is TensorFlow's, with its axis as an attribute.
#pragma once

#include <pinion/base/config.hpp>
#include <pinion/op/strided/op.hpp>
#include <pinion/opkit/attribute_list.hpp>
#include <pinion/opkit/definition.hpp>

namespace pinion { inline namespace v0 { namespace op {

// The base of ops that move elements by numbers of the run. Vectors of numbers are of int32 or int64, each by itself.
struct by_numbers {
  static constexpr kernel_set kernels{.cpu = dtypes::all, .gpu = {}};
  static constexpr bool bears_changing_inputs = true;
  static constexpr bool on_host = true;  // the output shape depends on elements
};

// (x, shape) -> x in that shape, in which one -1 follows from the number of elements.
struct dynamic_reshape : by_numbers {
  static constexpr std::string_view name = "DynamicReshape";
  static constexpr input_count inputs = 2;
  static constexpr attribute_list attrs{};
  static constexpr bool hands_on = true;
  static void infer(shape_context& c);
  static void gradient(gradient_context& g);
};

// (x, shape) -> x repeated until it has that shape, as BroadcastTo does.
struct dynamic_broadcast_to : by_numbers {
  static constexpr std::string_view name = "DynamicBroadcastTo";
  static constexpr input_count inputs = 2;
  static constexpr attribute_list attrs{};
  static void infer(shape_context& c);
  static void gradient(gradient_context& g);
};

// (x, begin, size) -> the box of x that starts at `begin` and has extents `size`; a size of -1 extends to the end.
struct dynamic_slice : by_numbers {
  static constexpr std::string_view name = "DynamicSlice";
  static constexpr input_count inputs = 3;
  static constexpr attribute_list attrs{};
  static void infer(shape_context& c);
  static void gradient(gradient_context& g);
};

// (dy, begin, like) -> zeros of the shape of `like`, with dy at `begin`.
struct dynamic_slice_grad : by_numbers {
  static constexpr std::string_view name = "DynamicSliceGrad";
  static constexpr input_count inputs = 3;
  static constexpr attribute_list attrs{};
  static constexpr int reads = 2;
  static void infer(shape_context& c);
  static void gradient(gradient_context& g);
};

// (x, begin, end, strides) -> the elements that the entries take, by the masks of StridedSlice.
struct dynamic_strided_slice : by_numbers {
  static constexpr std::string_view name = "DynamicStridedSlice";
  static constexpr input_count inputs = 4;
  static constexpr attribute_list attrs{detail::strided_mask("begin_mask"), detail::strided_mask("end_mask"),
                                        detail::strided_mask("ellipsis_mask"), detail::strided_mask("new_axis_mask"),
                                        detail::strided_mask("shrink_axis_mask")};
  static void infer(shape_context& c);
  static void gradient(gradient_context& g);
};

// (dy, begin, end, strides, like) -> zeros of the shape of `like`, with the elements of dy where DynamicStridedSlice
// takes them.
struct dynamic_strided_slice_grad : by_numbers {
  static constexpr std::string_view name = "DynamicStridedSliceGrad";
  static constexpr input_count inputs = 5;
  static constexpr attribute_list attrs = dynamic_strided_slice::attrs;
  static constexpr int reads = 4;
  static void infer(shape_context& c);
  static void gradient(gradient_context& g);
};

// (x, multiples) -> x repeated so many times along each axis.
struct dynamic_tile : by_numbers {
  static constexpr std::string_view name = "DynamicTile";
  static constexpr input_count inputs = 2;
  static constexpr attribute_list attrs{};
  static void infer(shape_context& c);
  static void gradient(gradient_context& g);
};

// (dy, multiples, x) -> for each element of x the sum of the elements of dy that DynamicTile made of it.
struct dynamic_tile_grad {
  static constexpr std::string_view name = "DynamicTileGrad";
  static constexpr input_count inputs = 3;
  static constexpr attribute_list attrs{};
  static constexpr int reads = 2;
  static constexpr bool bears_changing_inputs = true;
  static constexpr bool on_host = true;  // it reads elements to know its loops
  static constexpr kernel_set kernels{.cpu = dtypes::floating, .gpu = {}};
  static void infer(shape_context& c);
  static void gradient(gradient_context& g);
};

// (x, sizes [num_split]) -> x cut along "axis" into parts of these sizes, of which one may be -1 and is the rest.
struct split_v : by_numbers {
  static constexpr std::int64_t most = 1 << 16;
  static constexpr std::string_view name = "SplitV";
  static constexpr input_count inputs = 2;
  static constexpr attribute_list attrs{attr::integer("axis"), attr::integer("num_split").between(1, most)};
  static void infer(shape_context& c);
  static void gradient(gradient_context& g);
};

// (start, limit, delta), scalars of one dtype -> the vector start, start + delta, ... of the numbers before `limit`.
struct dynamic_range {
  static constexpr std::string_view name = "DynamicRange";
  static constexpr input_count inputs = 3;
  static constexpr attribute_list attrs{};
  static constexpr dtype_set types = dtypes::floating | dtypes::signed_integers;
  static constexpr kernel_set kernels{.cpu = types, .gpu = {}};
  static constexpr bool on_host = true;  // the output shape depends on elements
  static void infer(shape_context& c);
  static void gradient(gradient_context&) {}  // none flows, as in TensorFlow
};

namespace detail {

// The shape of the box of x at `begin`, as far as numbers and extents are told. Throws invalid_argument for one that is
// not inside x. Requires: there is one number for each axis.
shape told_box(const shape& x, const integers& begin, const integers& size);

// Throws invalid_argument for multiples below 0, and unless there is one for each axis of x.
void expect_multiples(const shape& x, const integers& multiples);

// The shape that x is repeated to; extents that are not told are those of x where it is not repeated along them.
// Throws invalid_argument for an extent below 0, and for an x that does not broadcast to it.
shape broadcast_shape(const shape& x, const integers& numbers);

// The sizes of parts, with the rest in place of a -1. Throws invalid_argument where they are not those of an axis of
// that extent; one that is not known passes.
integers part_sizes(integers sizes, std::int64_t extent);

// The attributes of a StridedSlice with these entries. Throws invalid_argument for more entries than such a one has.
attributes strided_attributes(const attributes& masks, integers begin, integers end, integers strides);

}  // namespace detail

}}}  // namespace pinion::v0::op

#if PINION_HEADER_ONLY
#include <pinion/op/dynamic/op.ipp>
#endif
