// Ops that keep the elements of a tensor, under another shape or in another order of axes.
#pragma once

#include <pinion/base/config.hpp>
#include <pinion/opkit/attribute_list.hpp>
#include <pinion/opkit/definition.hpp>

namespace pinion { inline namespace v0 { namespace op {

namespace detail {

// The target shape, whose one -1 is replaced so that the number of elements agrees; `from` may be unknown. Throws
// invalid_argument where none fits.
shape reshaped(const shape& target, const shape& from);

}  // namespace detail

struct layout_op {
  static constexpr kernel_set kernels{.cpu = dtypes::all, .gpu = dtypes::plain};
  static constexpr bool bears_changing_inputs = true;
  static constexpr bool hands_on = true;
};

// x in the shape "shape", in which one -1 follows from the number of elements.
struct reshape : layout_op {
  static constexpr std::string_view name = "Reshape";
  static constexpr input_count inputs = 1;
  static constexpr attribute_list attrs{attr::shape("shape")};
  static void infer(shape_context& c);
  static void gradient(gradient_context& g);
};

// (x, like) -> the elements of x in the shape of like.
struct reshape_like : layout_op {
  static constexpr std::string_view name = "ReshapeLike";
  static constexpr input_count inputs = 2;
  static constexpr attribute_list attrs{};
  static constexpr int reads = 1;
  static void infer(shape_context& c);
  static void gradient(gradient_context& g);
};

// (x, like) -> x with as many neighbouring axes as `like` has merged into one, from axis "axis" on; a negative axis is
// counted in the result. (x) merges all axes from there on. Merging no axes makes a new one.
struct merge_axes : layout_op {
  static constexpr std::string_view name = "MergeAxes";
  static constexpr input_count inputs{1, 2};
  static constexpr attribute_list attrs{attr::integer("axis")};
  static constexpr int reads = 1;
  static shape merged(const attributes& of, const shape& x, const shape* like);
  static void infer(shape_context& c);
  static void gradient(gradient_context& g);
};

// x with a new axis of extent 1 before axis "axis"; -1 appends it.
struct expand_dims : layout_op {
  static constexpr std::string_view name = "ExpandDims";
  static constexpr input_count inputs = 1;
  static constexpr attribute_list attrs{attr::integer("axis")};
  static shape expanded(const attributes& of, const shape& x);
  static void infer(shape_context& c);
  static void gradient(gradient_context& g);
};

// x without the axes "axes", which have extent 1; without the attribute, all axes of extent 1 are dropped.
struct squeeze : layout_op {
  static constexpr std::string_view name = "Squeeze";
  static constexpr input_count inputs = 1;
  static constexpr attribute_list attrs{attr::integers("axes").optional()};
  static shape squeezed(const attributes& of, const shape& x);
  static void infer(shape_context& c);
  static void gradient(gradient_context& g);
};

// x with its axes permuted: axis i of the result is axis perm[i] of x. Without attribute "perm" the axes are reversed.
struct transpose {
  static constexpr std::string_view name = "Transpose";
  static constexpr input_count inputs = 1;
  static constexpr attribute_list attrs{attr::integers("perm").optional()};
  static constexpr bool bears_changing_inputs = true;
  static constexpr kernel_set kernels{.cpu = dtypes::moved, .gpu = dtypes::plain};
  static integers permutation(const attributes& of, int rank);
  static void infer(shape_context& c);
  // The gradient is transposed back, by the inverse permutation.
  static void gradient(gradient_context& g);

 private:
  static int attrs_rank(const attributes& of);
};

}}}  // namespace pinion::v0::op

#if PINION_HEADER_ONLY
#include <pinion/op/layout/op.ipp>
#endif
