// Boxes of tensors: cutting, joining, padding, repeating.
//
// Offsets and sizes are attributes, one number for each axis. An op whose name ends in Like takes a shape from its last
// inputs, whose elements it does not read; such a shape is known at run time only. The gradients are made of these ops.
#pragma once

#include <string>

#include <pinion/base/config.hpp>
#include <pinion/opkit/attribute_list.hpp>
#include <pinion/opkit/definition.hpp>

namespace pinion { inline namespace v0 { namespace op {

struct slicing {
  static constexpr kernel_set kernels{.cpu = dtypes::all, .gpu = dtypes::plain};
  static constexpr bool bears_changing_inputs = true;
};

namespace detail {

// Checks that an attribute has one number for each axis of x. Throws invalid_argument otherwise.
void expect_one_each(std::string_view op, const integers& numbers, const shape& x, std::string_view what);

// The shape of tensors joined along an axis; any() where no rank is known. Throws invalid_argument where they differ in
// another axis.
shape concatenated(const std::vector<shape>& parts, std::int64_t axis);

// The shape of the box at `begin` of x; a size of -1 extends to the end. Throws invalid_argument for one not inside x.
shape box_of(const shape& x, const integers& begin, const integers& size);

// Checks that a box of that shape at `begin` lies inside x. Throws invalid_argument otherwise.
void expect_inside(const shape& box, const integers& begin, const shape& x);

shape padded(const shape& x, const integers& before, const integers& after);

// Throws invalid_argument for paddings below 0 or too large to count, and where there is not one for each axis.
void expect_paddings(std::string_view op, const attributes& attrs, const shape& x);

// The shape of x padded by its own elements. Throws invalid_argument for another mode than the three, and for paddings
// that need more elements than an axis has; an extent that is not known passes.
shape mirrored(std::string_view op, const attributes& attrs, const shape& x);

shape tiled(const shape& x, const integers& multiples);

}  // namespace detail

// Joins tensors along attribute "axis"; their other extents agree. Inputs without elements must fit as well.
struct concat : slicing {
  static constexpr std::string_view name = "ConcatV2";
  static constexpr input_count inputs = at_least(1);
  static constexpr attribute_list attrs{attr::integer("axis")};
  static void infer(shape_context& c);
  static void gradient(gradient_context& g);
};

// (whole, parts...) -> the whole cut along "axis" into tensors of the shapes of the parts.
struct split_like : slicing {
  static constexpr std::string_view name = "SplitLike";
  static constexpr input_count inputs = at_least(2);
  static constexpr attribute_list attrs{attr::integer("axis")};
  static constexpr int reads = 1;
  static void infer(shape_context& c);
  static void gradient(gradient_context& g);
};

// x cut along "axis" into "parts" tensors of one shape.
struct split : slicing {
  static constexpr std::string_view name = "Split";
  static constexpr input_count inputs = 1;
  static constexpr attribute_list attrs{attr::integer("axis"), attr::integer("parts")};
  static shape part_of(const attributes& of, const shape& x);
  static void infer(shape_context& c);
  static void gradient(gradient_context& g);
};

// The box of x that starts at attribute "begin" and has extents "size"; a size of -1 extends to the end.
struct slice : slicing {
  static constexpr std::string_view name = "Slice";
  static constexpr input_count inputs = 1;
  static constexpr attribute_list attrs{attr::integers("begin"), attr::integers("size")};
  static void infer(shape_context& c);
  static void gradient(gradient_context& g);
};

// (x, like) -> the box of x that starts at "begin" and has the shape of `like`.
struct slice_like : slicing {
  static constexpr std::string_view name = "SliceLike";
  static constexpr input_count inputs = 2;
  static constexpr attribute_list attrs{attr::integers("begin")};
  static constexpr int reads = 1;
  static void infer(shape_context& c);
  static void gradient(gradient_context& g);
};

// (x, like) -> zeros of the shape of `like`, with x at "begin".
struct pad_like : slicing {
  static constexpr std::string_view name = "PadLike";
  static constexpr input_count inputs = 2;
  static constexpr attribute_list attrs{attr::integers("begin")};
  static constexpr int reads = 1;
  static void infer(shape_context& c);
  static void gradient(gradient_context& g);
};

// x with "before" and "after" elements added along each axis, all equal to attribute "value", a double, by default 0.
struct pad : slicing {
  static constexpr std::string_view name = "Pad";
  static constexpr input_count inputs = 1;
  static constexpr attribute_list attrs{attr::integers("before"), attr::integers("after"),
                                        attr::real("value").optional()};
  static constexpr kernel_set kernels{.cpu = dtypes::moved, .gpu = dtypes::plain};
  static void infer(shape_context& c);
  static void gradient(gradient_context& g);
};

// x with "before" and "after" elements added along each axis, which repeat those of x. "mode" REFLECT goes back from
// the edge, SYMMETRIC begins with the edge itself, and EDGE, which TensorFlow lacks, repeats the edge alone.
struct mirror_pad : slicing {
  static constexpr std::string_view name = "MirrorPad";
  static constexpr input_count inputs = 1;
  static constexpr attribute_list attrs{attr::integers("before"), attr::integers("after"), attr::text("mode")};
  static constexpr kernel_set kernels{.cpu = dtypes::all, .gpu = {}};
  static void infer(shape_context& c);
  static void gradient(gradient_context& g);
};

// (dy, x) -> for each element of x the sum of the elements of dy that MirrorPad made of it.
struct mirror_pad_grad {
  static constexpr std::string_view name = "MirrorPadGrad";
  static constexpr input_count inputs = 2;
  static constexpr attribute_list attrs = mirror_pad::attrs;
  static constexpr bool bears_changing_inputs = true;
  static constexpr int reads = 1;
  static constexpr kernel_set kernels{.cpu = dtypes::floating, .gpu = {}};
  static void infer(shape_context& c);
  static void gradient(gradient_context& g);
};

// x repeated "multiples" times along each axis.
struct tile : slicing {
  static constexpr std::string_view name = "Tile";
  static constexpr input_count inputs = 1;
  static constexpr attribute_list attrs{attr::integers("multiples")};
  static void infer(shape_context& c);
  static void gradient(gradient_context& g);
};

// (dy, x) -> for each element of x the sum of the elements of dy that Tile made of it.
struct tile_grad {
  static constexpr std::string_view name = "TileGrad";
  static constexpr input_count inputs = 2;
  static constexpr attribute_list attrs{attr::integers("multiples")};
  static constexpr bool bears_changing_inputs = true;
  static constexpr int reads = 1;
  static constexpr kernel_set kernels{.cpu = dtypes::floating, .gpu = dtypes::floating};
  static void infer(shape_context& c);
  static void gradient(gradient_context& g);
};

}}}  // namespace pinion::v0::op

#if PINION_HEADER_ONLY
#include <pinion/op/slice/op.ipp>
#endif
