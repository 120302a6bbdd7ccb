// Reductions: sum, mean, max, min and product over some axes or all, and the index of the greatest element.
//
// Attributes "axes" (integers; negative ones count from the end; absent: all axes) and "keep_dims" (the reduced axes
// stay, with extent 1). Over no elements a sum is 0, a product 1, a mean NaN, a max the lowest value there is (-inf)
// and a min the highest. NaN wins in max and min.
#pragma once

#include <string>

#include <pinion/op/axes.hpp>
#include <pinion/op/definition.hpp>
#include <pinion/op/gradient_context.hpp>
#include <pinion/op/map/formula.hpp>
#include <pinion/op/shape_context.hpp>
#include <pinion/op/work_context.hpp>
#include <pinion/scalar/functors.hpp>

namespace pinion::inline v0::op {

namespace detail {

// A set of axes, as bits.
struct axis_set {
  unsigned bits = 0;
  bool has(int axis) const { return bits >> axis & 1; }
};

// The axes over which a node reduces a tensor of that rank.
inline axis_set reduced_axes(const attributes& attrs, int rank) {
  if (!attrs.has("axes")) return {(1u << rank) - 1};
  axis_set set;
  for (const std::int64_t given : attrs.get<integers>("axes")) {
    const int axis = checked_axis(given, rank);
    if (set.has(axis)) throw error(errc::invalid_argument, "axis " + std::to_string(axis) + " is reduced twice");
    set.bits |= 1u << axis;
  }
  return set;
}

// The shape of a reduced tensor. Requires: a known rank.
inline shape without_axes(const shape& x, axis_set axes, bool keep_dims) {
  shape y;
  for (int i = 0; i < x.rank(); ++i)
    if (!axes.has(i))
      y.push_back(x[i]);
    else if (keep_dims)
      y.push_back(1);
  return y;
}

inline void expect_number(const shape_context& c, dtype_set types) {
  if (!types.has(c.dtype(0)))
    c.fail(c.op() + " of " + std::string(to_string(c.dtype(0))) + " is not defined; pn::cast converts");
}

inline shape reduced_shape(const attributes& attrs, const shape& x) {
  const bool keep_dims = attrs.get_or("keep_dims", false);
  if (x.has_rank()) return without_axes(x, reduced_axes(attrs, x.rank()), keep_dims);
  return attrs.has("axes") || keep_dims ? shape::any() : shape{};
}

// Is input 0 what the reduction makes of input 1?
inline void expect_reduced(const shape_context& c) {
  const shape reduced = reduced_shape(c.attrs(), c.shape(1));
  if (!fits(c.shape(0), reduced))
    c.fail("a gradient of shape " + to_string(c.shape(0)) + " does not fit a reduction of " + to_string(c.shape(1)) +
           " to " + to_string(reduced));
}

inline attributes axes_of(const attributes& attrs) {
  attributes same{{"keep_dims", attrs.get_or("keep_dims", false)}};
  if (attrs.has("axes")) same.set("axes", attrs.get<integers>("axes"));
  return same;
}

// The gradient of a sum goes to every element alike; that of a mean is divided among them.
inline void spread_gradient(gradient_context& g, bool mean) {
  if (!is_floating(g.type_of(g.output(0)).dtype)) return;
  attributes attrs = axes_of(g.attrs());
  attrs.set("mean", mean);
  g.set(0, g.make("ExpandLike", {g.output_gradient(0), g.input(0)}, attrs));
}

// The gradient of an extreme goes in equal parts to the elements that attain it, as in TensorFlow.
inline void share_gradient(gradient_context& g) {
  if (!is_floating(g.type_of(g.output(0)).dtype)) return;
  attributes kept = axes_of(g.attrs());
  kept.set("keep_dims", true);
  const output x = g.input(0);
  const auto spread = [&](output y) { return g.make("ExpandLike", {y, x}, axes_of(g.attrs())); };
  const output hits = elementwise(
      g, "Select",
      [](auto value, auto best) {
        return scalar::functor::selection::apply(value == best, number(1, value), number(0, value));
      },
      x, spread(g.output(0)));
  const output ties = g.make("Sum", {hits}, kept);
  g.set(0, elementwise(
               g, "Mul", [](auto hit, auto count, auto dy) { return hit / count * dy; }, hits, ties,
               spread(g.output_gradient(0))));
}

}  // namespace detail

struct reduction {
  static constexpr input_count inputs = 1;
  static constexpr kernel_set kernels{.cpu = dtypes::numbers,
                                      .gpu = dtypes::floating | dtype_set{dtype::int32, dtype::int64}};
  static void infer(shape_context& c) {
    detail::expect_number(c, dtypes::numbers);
    c.output(c.dtype(0), detail::reduced_shape(c.attrs(), c.shape(0)));
  }
  static double work(const work_context& c) { return c.count(c.input(0).shape); }
};

struct reduce_sum : reduction {
  static constexpr std::string_view name = "Sum";
  static void gradient(gradient_context& g) { detail::spread_gradient(g, false); }
};

// The mean of integers is their sum, which does not overflow, divided and rounded towards zero; 0 over no elements.
struct reduce_mean : reduction {
  static constexpr std::string_view name = "Mean";
  static void gradient(gradient_context& g) { detail::spread_gradient(g, true); }
};

struct reduce_max : reduction {
  static constexpr std::string_view name = "Max";
  static void gradient(gradient_context& g) { detail::share_gradient(g); }
};

struct reduce_min : reduction {
  static constexpr std::string_view name = "Min";
  static void gradient(gradient_context& g) { detail::share_gradient(g); }
};

struct reduce_prod : reduction {
  static constexpr std::string_view name = "Prod";
  static void gradient(gradient_context& g) {
    if (!is_floating(g.type_of(g.output(0)).dtype)) return;
    g.set(0, g.make("ProdGrad", {g.output_gradient(0), g.input(0)}, detail::axes_of(g.attrs())));
  }
};

// Of bools: whether all hold. True over no elements.
struct reduce_all : reduction {
  static constexpr std::string_view name = "All";
  static constexpr kernel_set kernels{.cpu = dtype_set{dtype::boolean}, .gpu = dtype_set{dtype::boolean}};
  static constexpr std::string_view no_gradient = "a bool is no differentiable value";
  static void infer(shape_context& c) {
    detail::expect_number(c, kernels.cpu);
    c.output(c.dtype(0), detail::reduced_shape(c.attrs(), c.shape(0)));
  }
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
  static void infer(shape_context& c) {
    detail::expect_number(c, dtypes::numbers);
    detail::expect_reduced(c);
    c.output(c.dtype(0), c.shape(1));
  }
  static void gradient(gradient_context& g) {
    if (!is_floating(g.type_of(g.output(0)).dtype)) return;
    const bool mean = g.attrs().get_or("mean", false);
    g.set(0, g.make(mean ? "Mean" : "Sum", {g.output_gradient(0)}, detail::axes_of(g.attrs())));
  }
};

// (dy, x) -> dx of a product y: dx[k] = dy * the product of all others, without dividing by x[k], which may be 0.
//
// (dy, x, g0, g1, ...), each g of the shape of x -> element k is dy times the coefficient of e0 e1 ... in the product of
// all others of x + g0 e0 + g1 e1 + ...: the sum, over all ways to choose an element for each g, no two the same, of
// those elements of the g and the rest of x. It is the gradient of itself with one g less, so products have derivatives
// of any order.
struct prod_grad {
  static constexpr std::string_view name = "ProdGrad";
  static constexpr input_count inputs = at_least(2);
  static constexpr kernel_set kernels{.cpu = dtypes::floating, .gpu = dtypes::floating};
  static constexpr int most_weights = 20;  // a coefficient for each set of them is kept for each element of x
  static void infer(shape_context& c) {
    if (c.inputs() - 2 > most_weights)
      c.fail("a derivative of order " + std::to_string(c.inputs() - 1) + " of a product; " +
             std::to_string(most_weights + 1) + " is the highest");
    detail::expect_reduced(c);
    for (int i = 0; i < c.inputs(); ++i)
      if (c.dtype(i) != c.dtype(1) || (i > 1 && !fits(c.shape(i), c.shape(1))))
        c.fail("weights of " + std::string(to_string(c.dtype(i))) + " " + to_string(c.shape(i)) + " for elements of " +
               std::string(to_string(c.dtype(1))) + " " + to_string(c.shape(1)));
    c.output(c.dtype(1), c.shape(1));
  }
  static void gradient(gradient_context& g) {
    const attributes attrs = detail::axes_of(g.attrs());
    const std::vector<output> given = g.node().inputs;
    const output weight = g.output_gradient(0);
    if (g.wants(0)) {
      std::vector<output> from = given;
      from[0] = g.make("OnesLike", {given[0]});
      const output products = elementwise(
          g, "Mul", [](auto a, auto b) { return a * b; }, weight, g.make(name, std::move(from), attrs));
      g.set(0, g.make("Sum", {products}, attrs));
    }
    for (int i = 1; i < static_cast<int>(given.size()); ++i) {
      if (!g.wants(i)) continue;
      std::vector<output> from = given;
      if (i > 1) from.erase(from.begin() + i);
      from.push_back(weight);
      g.set(i, g.make(name, std::move(from), attrs));
    }
  }
};

// The index along one axis, attribute "axis", of the greatest element: the first of equals; NaN counts as greatest.
// int64; its kernels are therefore declared for int64, and take numbers of any type.
struct argmax {
  static constexpr std::string_view name = "ArgMax";
  static constexpr input_count inputs = 1;
  static constexpr kernel_set kernels{.cpu = dtype_set{dtype::int64}, .gpu = dtype_set{dtype::int64}};
  static void infer(shape_context& c) {
    detail::expect_number(c, dtypes::numbers);
    const shape& x = c.shape(0);
    if (!x.has_rank()) return c.output(dtype::int64, shape::any());
    const int axis = checked_axis(c.attrs().get<std::int64_t>("axis"), x.rank());
    c.output(dtype::int64, detail::without_axes(x, {1u << axis}, false));
  }
  static void gradient(gradient_context&) {}  // a step function: nothing flows
};

}  // namespace pinion::inline v0::op
