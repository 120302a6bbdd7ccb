// Boxes of tensors: cut out, put together, set into zeros, repeated.
//
// Offsets and sizes are attributes, one number for each axis. The ops that end in Like take a shape that is known only
// when they run from their last inputs, whose elements do not matter; the gradients are made of them.
#pragma once

#include <string>

#include <pinion/base/config.hpp>
#include <pinion/opkit/definition.hpp>

namespace pinion { inline namespace v0 { namespace op {

struct slicing {
  static constexpr kernel_set kernels{.cpu = dtypes::all, .gpu = dtypes::plain};
};

namespace detail {

void expect_one_dtype(const shape_context& c, int first = 0);

// One number of an attribute for each axis of x, where both are known to disagree it fails.
void expect_one_each(const std::string& op, const integers& numbers, const shape& x, std::string_view what);

// What tensors of these shapes make when put one behind the other along an axis; any() where no rank is known.
shape concatenated(const std::vector<shape>& parts, std::int64_t axis);

// The box at `begin` of x; of size -1: up to the end. Fails where it does not lie inside.
shape box_of(const shape& x, const integers& begin, const integers& size);

// Does a box of that shape lie inside x from `begin` on?
void expect_inside(const shape& box, const integers& begin, const shape& x);

shape padded(const shape& x, const integers& before, const integers& after);

shape tiled(const shape& x, const integers& multiples);

}  // namespace detail

// Tensors one behind the other along attribute "axis"; their other extents agree. Inputs of no elements count.
struct concat : slicing {
  static constexpr std::string_view name = "ConcatV2";
  static constexpr input_count inputs = at_least(1);
  static void infer(shape_context& c);
  static void gradient(gradient_context& g);
};

// (whole, parts...) -> the whole cut along "axis" into tensors of the shapes of the parts.
struct split_like : slicing {
  static constexpr std::string_view name = "SplitLike";
  static constexpr input_count inputs = at_least(2);
  static constexpr int reads = 1;
  static void infer(shape_context& c);
  static void gradient(gradient_context& g);
};

// x cut along "axis" into "parts" tensors of one shape.
struct split : slicing {
  static constexpr std::string_view name = "Split";
  static constexpr input_count inputs = 1;
  static shape part_of(const attributes& attrs, const shape& x);
  static void infer(shape_context& c);
  static void gradient(gradient_context& g);
};

// The box of x from attribute "begin" on, of "size"; a size of -1 leads to the end.
struct slice : slicing {
  static constexpr std::string_view name = "Slice";
  static constexpr input_count inputs = 1;
  static void infer(shape_context& c);
  static void gradient(gradient_context& g);
};

// (x, like) -> the box of x from "begin" on that has the shape of like.
struct slice_like : slicing {
  static constexpr std::string_view name = "SliceLike";
  static constexpr input_count inputs = 2;
  static constexpr int reads = 1;
  static void infer(shape_context& c);
  static void gradient(gradient_context& g);
};

// (x, like) -> zeros of the shape of like, x among them from "begin" on.
struct pad_like : slicing {
  static constexpr std::string_view name = "PadLike";
  static constexpr input_count inputs = 2;
  static constexpr int reads = 1;
  static void infer(shape_context& c);
  static void gradient(gradient_context& g);
};

// x with "before" and "after" many elements added along each axis, all of attribute "value", a double; 0 if absent.
struct pad : slicing {
  static constexpr std::string_view name = "Pad";
  static constexpr input_count inputs = 1;
  static constexpr kernel_set kernels{.cpu = dtypes::plain, .gpu = dtypes::plain};
  static void infer(shape_context& c);
  static void gradient(gradient_context& g);
};

// x repeated "multiples" many times along each axis.
struct tile : slicing {
  static constexpr std::string_view name = "Tile";
  static constexpr input_count inputs = 1;
  static void infer(shape_context& c);
  static void gradient(gradient_context& g);
};

// (dy, x) -> the sums of those elements of dy that Tile made of one element of x.
struct tile_grad {
  static constexpr std::string_view name = "TileGrad";
  static constexpr input_count inputs = 2;
  static constexpr int reads = 1;
  static constexpr kernel_set kernels{.cpu = dtypes::floating, .gpu = dtypes::floating};
  static void infer(shape_context& c);
  static void gradient(gradient_context& g);
};

}}}  // namespace pinion::v0::op

#if PINION_HEADER_ONLY
#include <pinion/op/slice/op.ipp>
#endif
