// The same elements under another shape, or in another order of axes.
#pragma once

#include <pinion/base/config.hpp>
#include <pinion/opkit/definition.hpp>

namespace pinion { inline namespace v0 { namespace op {

namespace detail {

// A target shape, of which one extent may be -1, for that many elements (`unknown`: any). Fails where none fits.
shape reshaped(const shape& target, const shape& from);

}  // namespace detail

struct layout_op {
  static constexpr kernel_set kernels{.cpu = dtypes::all, .gpu = dtypes::plain};
};

// Attribute "shape", with at most one -1, which follows from the count.
struct reshape : layout_op {
  static constexpr std::string_view name = "Reshape";
  static constexpr input_count inputs = 1;
  static void infer(shape_context& c);
  static void gradient(gradient_context& g);
};

// (x, like) -> the elements of x in the shape of like.
struct reshape_like : layout_op {
  static constexpr std::string_view name = "ReshapeLike";
  static constexpr input_count inputs = 2;
  static constexpr int reads = 1;
  static void infer(shape_context& c);
  static void gradient(gradient_context& g);
};

// (x, like) -> x, of which as many neighbouring axes as like has become one, from axis "axis" on; a negative one is
// counted in the result. (x): all axes from there on become one. The axes that become one may be none: then it is new.
struct merge_axes : layout_op {
  static constexpr std::string_view name = "MergeAxes";
  static constexpr input_count inputs{1, 2};
  static constexpr int reads = 1;
  static shape merged(const attributes& attrs, const shape& x, const shape* like);
  static void infer(shape_context& c);
  static void gradient(gradient_context& g);
};

// x with a new axis of extent 1 before axis "axis"; -1: behind the last.
struct expand_dims : layout_op {
  static constexpr std::string_view name = "ExpandDims";
  static constexpr input_count inputs = 1;
  static shape expanded(const attributes& attrs, const shape& x);
  static void infer(shape_context& c);
  static void gradient(gradient_context& g);
};

// x without the axes "axes", which have extent 1; absent: without all that have.
struct squeeze : layout_op {
  static constexpr std::string_view name = "Squeeze";
  static constexpr input_count inputs = 1;
  static shape squeezed(const attributes& attrs, const shape& x);
  static void infer(shape_context& c);
  static void gradient(gradient_context& g);
};

// Axis i of the result is axis perm[i] of x. Attribute "perm"; absent: the axes in reverse.
struct transpose {
  static constexpr std::string_view name = "Transpose";
  static constexpr input_count inputs = 1;
  static constexpr kernel_set kernels{.cpu = dtypes::plain, .gpu = dtypes::plain};
  static integers permutation(const attributes& attrs, int rank);
  static void infer(shape_context& c);
  // Back by the inverse permutation.
  static void gradient(gradient_context& g);

 private:
  static int attrs_rank(const attributes& attrs);
};

}}}  // namespace pinion::v0::op

#if PINION_HEADER_ONLY
#include <pinion/op/layout/op.ipp>
#endif
