// Reductions: sum, mean, max, min and product over some axes or all, and the index of the greatest element.
//
// Attributes "axes" (integers; negative ones count from the last axis; by default all axes) and "keep_dims" (reduced
// axes stay, with extent 1). Over no elements a sum is 0, a product 1, a mean NaN, a max the lowest value (-inf) and a
// min the highest. A NaN among the elements is the max and the min.
#pragma once

#include <pinion/base/config.hpp>
#include <pinion/op/elementwise/op.hpp>
#include <pinion/opkit/attribute_list.hpp>
#include <pinion/opkit/definition.hpp>

namespace pinion { inline namespace v0 { namespace op {

namespace detail {

// A set of axes, as bits. A value.
struct axis_set {
  unsigned bits = 0;
  bool has(int axis) const { return bits >> axis & 1; }
};

// The axes over which a node reduces a tensor of that rank. Throws invalid_argument for one that does not exist.
axis_set reduced_axes(const attributes& attrs, int rank);

// The shape of a reduced tensor. Requires: a known rank.
shape without_axes(const shape& x, axis_set axes, bool keep_dims);

shape reduced_shape(const attributes& attrs, const shape& x);

// Checks that the shape of input 0 is that of a reduction of x.
void expect_reduced(const shape_context& c, const shape& x);

attributes axes_of(const attributes& attrs);

// The gradient of a sum or mean: every element gets the gradient of its sum, divided by the count for a mean.
void spread_gradient(gradient_context& g, bool mean);

// The gradient of a max or min: the elements that attain it share it equally, as in TensorFlow.
void share_gradient(gradient_context& g);

}  // namespace detail

struct reduction {
  static constexpr input_count inputs = 1;
  static constexpr attribute_list attrs{attr::integers("axes").optional(), attr::flag("keep_dims").optional()};
  static constexpr bool bears_changing_inputs = true;
  static constexpr kernel_set kernels{.cpu = dtypes::numbers, .gpu = dtypes::floating | dtypes::signed_integers};
  static void infer(shape_context& c);
  static double work(const work_context& c);
};

struct reduce_sum : reduction {
  static constexpr std::string_view name = "Sum";
  static void gradient(gradient_context& g);
};

// The mean of integers is their exact sum, divided and rounded towards zero; over no elements it is 0.
struct reduce_mean : reduction {
  static constexpr std::string_view name = "Mean";
  static void gradient(gradient_context& g);
};

struct reduce_max : reduction {
  static constexpr std::string_view name = "Max";
  static constexpr bool yields_infinity = true;  // over no elements
  static void gradient(gradient_context& g);
};

struct reduce_min : reduction {
  static constexpr std::string_view name = "Min";
  static constexpr bool yields_infinity = true;  // over no elements
  static void gradient(gradient_context& g);
};

struct reduce_prod : reduction {
  static constexpr std::string_view name = "Prod";
  static void gradient(gradient_context& g);
};

// Whether all bools are true. Over no elements: true.
struct reduce_all : reduction {
  static constexpr std::string_view name = "All";
  static constexpr kernel_set kernels{.cpu = dtype_set{dtype::boolean}, .gpu = dtype_set{dtype::boolean}};
  static constexpr std::string_view no_gradient = "a bool is no differentiable value";
  static void infer(shape_context& c);
};

// Whether any bool is true. Over no elements: false.
struct reduce_any : reduce_all {
  static constexpr std::string_view name = "Any";
};

// (dy, x) -> dy repeated along the reduced axes until it has the shape of x; with "mean", divided by their count. The
// attributes are those of the reduction that made dy's shape out of x's. With (dy, x, y, ...) the shape is the one that
// x, y, ... broadcast to; with "narrow", reduced axes have extent 1 in the result, which a reader then broadcasts.
struct expand_like : reduction {
  static constexpr std::string_view name = "ExpandLike";
  static constexpr input_count inputs = at_least(2);
  static constexpr attribute_list attrs =
      reduction::attrs + attribute_list{attr::flag("mean").optional(), attr::flag("narrow").rewrite()};
  static constexpr int reads = 1;
  static void infer(shape_context& c);
  static void gradient(gradient_context& g);
};

// A reduction of the elements that attribute "program" computes of the inputs, which are folded as they are computed.
// "fold" is the op of the reduction, whose attributes these are, too. Every bit is that of the elements reduced in
// memory. Optimization makes these nodes.
struct map_reduction {
  static constexpr std::string_view name = "MapReduce";
  static constexpr bool rewrite = true;
  static constexpr input_count inputs = by_program;
  static constexpr attribute_list attrs = any_map::attrs + reduction::attrs + attribute_list{attr::text("fold")};
  static constexpr bool bears_changing_inputs = true;
  static constexpr kernel_set kernels{.cpu = dtypes::floating, .gpu = {}};
  static constexpr std::string_view no_gradient = "steps are differentiated before they are optimized";
  static void infer(shape_context& c);
  static double work(const work_context& c);
};

// (dy, x) -> the gradient of a product y: dx[k] = dy * the product of all other elements, without division by x[k],
// which may be 0.
//
// (dy, x, g0, g1, ...), each g of the shape of x -> element k is dy times the coefficient of e0 e1 ... in the product
// of x + g0 e0 + g1 e1 + ... over all other elements. That coefficient sums, over all ways to choose a different
// element for each g, the product of these elements of the g with the other elements of x. The gradient of this op is
// the same op with one g more, so products have derivatives of any order.
struct prod_grad {
  static constexpr std::string_view name = "ProdGrad";
  static constexpr input_count inputs = at_least(2);
  static constexpr attribute_list attrs = reduction::attrs;
  static constexpr kernel_set kernels{.cpu = dtypes::floating, .gpu = dtypes::floating};
  static constexpr int most_weights = 20;  // for each element of x it keeps a coefficient per subset of them
  static void infer(shape_context& c);
  static double work(const work_context& c);
  static void gradient(gradient_context& g);
};

// The index, int64, of the greatest element along axis "axis", or of the first of equal ones; NaN counts as the
// greatest. Its kernels are declared for int64, the dtype of output 0, and take numbers of any dtype.
struct argmax {
  static constexpr std::string_view name = "ArgMax";
  static constexpr input_count inputs = 1;
  static constexpr attribute_list attrs{attr::integer("axis")};
  static constexpr bool bears_changing_inputs = true;
  static constexpr kernel_set kernels{.cpu = dtype_set{dtype::int64}, .gpu = dtype_set{dtype::int64}};
  static void infer(shape_context& c);
  static void gradient(gradient_context&) {}  // a step function has no gradient
};

// That of the least element, or of the first of equal ones; NaN counts as the least.
struct argmin : argmax {
  static constexpr std::string_view name = "ArgMin";
  static constexpr kernel_set kernels{.cpu = dtype_set{dtype::int64}, .gpu = {}};
};

}}}  // namespace pinion::v0::op

#if PINION_HEADER_ONLY
#include <pinion/op/reduce/op.ipp>
#endif
