// Reductions: sum, mean, max, min and product over some axes or all, and the index of the greatest element.
//
// Attributes "axes" (integers; negative ones count from the end; absent: all axes) and "keep_dims" (the reduced axes
// stay, with extent 1). Over no elements a sum is 0, a product 1, a mean NaN, a max the lowest value there is (-inf)
// and a min the highest. NaN wins in max and min.
#pragma once

#include <pinion/base/config.hpp>
#include <pinion/opkit/definition.hpp>

namespace pinion { inline namespace v0 { namespace op {

namespace detail {

// A set of axes, as bits.
struct axis_set {
  unsigned bits = 0;
  bool has(int axis) const { return bits >> axis & 1; }
};

// The axes over which a node reduces a tensor of that rank.
axis_set reduced_axes(const attributes& attrs, int rank);

// The shape of a reduced tensor. Requires: a known rank.
shape without_axes(const shape& x, axis_set axes, bool keep_dims);

void expect_number(const shape_context& c, dtype_set types);

shape reduced_shape(const attributes& attrs, const shape& x);

// Is input 0 what the reduction makes of input 1?
void expect_reduced(const shape_context& c);

attributes axes_of(const attributes& attrs);

// The gradient of a sum goes to every element alike; that of a mean is divided among them.
void spread_gradient(gradient_context& g, bool mean);

// The gradient of an extreme goes in equal parts to the elements that attain it, as in TensorFlow.
void share_gradient(gradient_context& g);

}  // namespace detail

struct reduction {
  static constexpr input_count inputs = 1;
  static constexpr kernel_set kernels{.cpu = dtypes::numbers,
                                      .gpu = dtypes::floating | dtype_set{dtype::int32, dtype::int64}};
  static void infer(shape_context& c);
  static double work(const work_context& c);
};

struct reduce_sum : reduction {
  static constexpr std::string_view name = "Sum";
  static void gradient(gradient_context& g);
};

// The mean of integers is their sum, which does not overflow, divided and rounded towards zero; 0 over no elements.
struct reduce_mean : reduction {
  static constexpr std::string_view name = "Mean";
  static void gradient(gradient_context& g);
};

struct reduce_max : reduction {
  static constexpr std::string_view name = "Max";
  static void gradient(gradient_context& g);
};

struct reduce_min : reduction {
  static constexpr std::string_view name = "Min";
  static void gradient(gradient_context& g);
};

struct reduce_prod : reduction {
  static constexpr std::string_view name = "Prod";
  static void gradient(gradient_context& g);
};

// Of bools: whether all hold. True over no elements.
struct reduce_all : reduction {
  static constexpr std::string_view name = "All";
  static constexpr kernel_set kernels{.cpu = dtype_set{dtype::boolean}, .gpu = dtype_set{dtype::boolean}};
  static constexpr std::string_view no_gradient = "a bool is no differentiable value";
  static void infer(shape_context& c);
};

// Of bools: whether any holds. False over no elements.
struct reduce_any : reduce_all {
  static constexpr std::string_view name = "Any";
};

// (dy, x) -> dy repeated along the reduced axes until it has the shape of x; with "mean", divided by their count. The
// attributes are those of the reduction that made dy's shape out of x's.
struct expand_like : reduction {
  static constexpr std::string_view name = "ExpandLike";
  static constexpr input_count inputs = 2;
  static constexpr int reads = 1;
  static void infer(shape_context& c);
  static void gradient(gradient_context& g);
};

// (dy, x) -> dx of a product y: dx[k] = dy * the product of all others, without dividing by x[k], which may be 0.
//
// (dy, x, g0, g1, ...), each g of the shape of x -> element k is dy times the coefficient of e0 e1 ... in the product
// of all others of x + g0 e0 + g1 e1 + ...: the sum, over all ways to choose an element for each g, no two the same, of
// those elements of the g and the rest of x. It is the gradient of itself with one g less, so products have derivatives
// of any order.
struct prod_grad {
  static constexpr std::string_view name = "ProdGrad";
  static constexpr input_count inputs = at_least(2);
  static constexpr kernel_set kernels{.cpu = dtypes::floating, .gpu = dtypes::floating};
  static constexpr int most_weights = 20;  // a coefficient for each set of them is kept for each element of x
  static void infer(shape_context& c);
  static void gradient(gradient_context& g);
};

// The index along one axis, attribute "axis", of the greatest element: the first of equals; NaN counts as greatest.
// int64; its kernels are therefore declared for int64, and take numbers of any type.
struct argmax {
  static constexpr std::string_view name = "ArgMax";
  static constexpr input_count inputs = 1;
  static constexpr kernel_set kernels{.cpu = dtype_set{dtype::int64}, .gpu = dtype_set{dtype::int64}};
  static void infer(shape_context& c);
  static void gradient(gradient_context&) {}  // a step function: nothing flows
};

}}}  // namespace pinion::v0::op

#if PINION_HEADER_ONLY
#include <pinion/op/reduce/op.ipp>
#endif
