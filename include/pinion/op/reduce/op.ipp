// Bodies of <pinion/op/reduce/op.hpp>.
#pragma once

#include <cmath>
#include <string>

#include <pinion/op/elementwise/formula.hpp>
#include <pinion/op/elementwise/held_formula.hpp>
#include <pinion/op/elementwise/parts.hpp>
#include <pinion/op/reduce/op.hpp>
#include <pinion/op/source/op.hpp>
#include <pinion/opkit/axes.hpp>
#include <pinion/opkit/gradient_context.hpp>
#include <pinion/opkit/shape_context.hpp>
#include <pinion/opkit/work_context.hpp>

namespace pinion { inline namespace v0 { namespace op { namespace detail {

PINION_DECL axis_set reduced_axes(const attributes& attrs, int rank) {
  if (!attrs.has("axes")) return {(1u << rank) - 1};
  axis_set set;
  for (const std::int64_t given : attrs.get<integers>("axes")) {
    const int axis = checked_axis(given, rank);
    if (set.has(axis)) throw error(errc::invalid_argument, "axis " + std::to_string(axis) + " is reduced twice");
    set.bits |= 1u << axis;
  }
  return set;
}

PINION_DECL shape without_axes(const shape& x, axis_set axes, bool keep_dims) {
  shape y;
  for (int i = 0; i < x.rank(); ++i)
    if (!axes.has(i))
      y.push_back(x[i]);
    else if (keep_dims)
      y.push_back(1);
  return y;
}

PINION_DECL shape reduced_shape(const attributes& attrs, const shape& x) {
  const bool keep_dims = attrs.get_or("keep_dims", false);
  if (x.has_rank()) return without_axes(x, reduced_axes(attrs, x.rank()), keep_dims);
  return attrs.has("axes") || keep_dims ? shape::any() : shape{};
}

PINION_DECL void expect_reduced(const shape_context& c, const shape& x) {
  const shape reduced = reduced_shape(c.attrs(), x);
  if (!fits(c.shape(0), reduced))
    c.fail("a gradient of shape " + to_string(c.shape(0)) + " does not fit a reduction of " + to_string(x) + " to " +
           to_string(reduced));
}

PINION_DECL attributes axes_of(const attributes& attrs) {
  attributes same{{"keep_dims", attrs.get_or("keep_dims", false)}};
  if (attrs.has("axes")) same.set("axes", attrs.get<integers>("axes"));
  return same;
}

PINION_DECL void spread_gradient(gradient_context& g, bool mean) {
  if (!is_floating(g.type_of(g.output(0)).dtype)) return;
  attributes attrs = axes_of(g.attrs());
  attrs.set("mean", mean);
  g.set(0, g.make(expand_like::name, {g.output_gradient(0), g.input(0)}, attrs));
}

PINION_DECL void share_gradient(gradient_context& g) {
  if (!is_floating(g.type_of(g.output(0)).dtype)) return;
  attributes kept = axes_of(g.attrs());
  kept.set("keep_dims", true);
  const output x = g.input(0);
  const auto spread = [&](output y) { return g.make(expand_like::name, {y, x}, axes_of(g.attrs())); };
  const output hits = elementwise<op::select, formula::is_extreme>(g, x, spread(g.output(0)));
  const output ties = g.make(reduce_sum::name, {hits}, kept);
  g.set(0, elementwise<multiply, formula::share_of_extreme>(g, hits, ties, spread(g.output_gradient(0))));
}

}}}}  // namespace pinion::v0::op::detail

namespace pinion { inline namespace v0 { namespace op {

PINION_DECL void reduction::infer(shape_context& c) {
  c.expect_dtype(c.dtype(0), dtypes::numbers);
  c.output(c.dtype(0), detail::reduced_shape(c.attrs(), c.shape(0)));
}

PINION_DECL double reduction::work(const work_context& c) {
  return c.count(c.input(0).shape);
}

PINION_DECL void reduce_sum::gradient(gradient_context& g) {
  detail::spread_gradient(g, false);
}

PINION_DECL void reduce_mean::gradient(gradient_context& g) {
  detail::spread_gradient(g, true);
}

PINION_DECL void reduce_max::gradient(gradient_context& g) {
  detail::share_gradient(g);
}

PINION_DECL void reduce_min::gradient(gradient_context& g) {
  detail::share_gradient(g);
}

PINION_DECL void reduce_prod::gradient(gradient_context& g) {
  if (!is_floating(g.type_of(g.output(0)).dtype)) return;
  g.set(0, g.make(prod_grad::name, {g.output_gradient(0), g.input(0)}, detail::axes_of(g.attrs())));
}

PINION_DECL void reduce_all::infer(shape_context& c) {
  c.expect_dtype(c.dtype(0), kernels.cpu);
  c.output(c.dtype(0), detail::reduced_shape(c.attrs(), c.shape(0)));
}

PINION_DECL void expand_like::infer(shape_context& c) {
  c.expect_dtype(c.dtype(0), dtypes::numbers);
  const shape x = detail::broadcast_of_inputs(c, 1, c.inputs());
  detail::expect_reduced(c, x);
  const bool narrow = c.attrs().get_or("narrow", false) && x.has_rank();
  c.output(c.dtype(0), narrow ? detail::without_axes(x, detail::reduced_axes(c.attrs(), x.rank()), true) : x);
}

PINION_DECL void expand_like::gradient(gradient_context& g) {
  if (!is_floating(g.type_of(g.output(0)).dtype)) return;
  const bool mean = g.attrs().get_or("mean", false);
  g.set(0, g.make(mean ? reduce_mean::name : reduce_sum::name, {g.output_gradient(0)}, detail::axes_of(g.attrs())));
}

namespace detail {

inline void expect_fold(const shape_context& c) {
  const auto& fold = c.attrs().get<std::string>("fold");
  for (const std::string_view known :
       {reduce_sum::name, reduce_mean::name, reduce_max::name, reduce_min::name, reduce_prod::name})
    if (fold == known) return;
  c.fail("MapReduce folds by Sum, Mean, Max, Min or Prod, not by '" + fold + "'");
}

}  // namespace detail

PINION_DECL void map_reduction::infer(shape_context& c) {
  const auto& p = program_of(c.attrs());
  detail::check_program_inputs(c, p);
  map_parts::of(c.attrs(), static_cast<std::size_t>(c.inputs()));
  detail::expect_fold(c);
  if (p.results.size() != 1 || p.results[0].type != p.arithmetic) c.fail("MapReduce folds one number of each element");
  c.output(p.arithmetic, detail::reduced_shape(c.attrs(), detail::broadcast_of_inputs(c, 0, c.inputs())));
}

PINION_DECL double map_reduction::work(const work_context& c) {
  return detail::program_work(c) + c.count(detail::space_of_inputs(c));
}

PINION_DECL void prod_grad::infer(shape_context& c) {
  if (c.inputs() - 2 > most_weights)
    c.fail("a derivative of order " + std::to_string(c.inputs() - 1) + " of a product; " +
           std::to_string(most_weights + 1) + " is the highest");
  detail::expect_reduced(c, c.shape(1));
  for (int i = 0; i < c.inputs(); ++i)
    if (c.dtype(i) != c.dtype(1) || (i > 1 && !fits(c.shape(i), c.shape(1))))
      c.fail("weights of " + std::string(to_string(c.dtype(i))) + " " + to_string(c.shape(i)) + " for elements of " +
             std::string(to_string(c.dtype(1))) + " " + to_string(c.shape(1)));
  c.output(c.dtype(1), c.shape(1));
}

PINION_DECL double prod_grad::work(const work_context& c) {
  const int weights = c.inputs() - 2;
  return c.count(c.input(1).shape) * std::ldexp(3.0 * (weights + 1), weights);
}

PINION_DECL void prod_grad::gradient(gradient_context& g) {
  const attributes axes = detail::axes_of(g.attrs());
  const std::vector<output> given = g.node().inputs;
  const output weight = g.output_gradient(0);
  if (g.wants(0)) {
    std::vector<output> from = given;
    from[0] = g.make(ones_like::name, {given[0]});
    const output products = elementwise<multiply>(
        g, [](auto a, auto b) { return a * b; }, weight, g.make(name, std::move(from), axes));
    g.set(0, g.make(reduce_sum::name, {products}, axes));
  }
  for (int i = 1; i < static_cast<int>(given.size()); ++i) {
    if (!g.wants(i)) continue;
    std::vector<output> from = given;
    if (i > 1) from.erase(from.begin() + i);
    from.push_back(weight);
    g.set(i, g.make(name, std::move(from), axes));
  }
}

PINION_DECL void argmax::infer(shape_context& c) {
  c.expect_dtype(c.dtype(0), dtypes::numbers);
  const shape& x = c.shape(0);
  if (!x.has_rank()) return c.output(dtype::int64, shape::any());
  const int axis = checked_axis(c.attrs().get<std::int64_t>("axis"), x.rank());
  c.output(dtype::int64, detail::without_axes(x, {1u << axis}, false));
}

}}}  // namespace pinion::v0::op
