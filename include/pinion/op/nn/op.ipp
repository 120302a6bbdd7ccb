// Bodies of <pinion/op/nn/op.hpp>.
#pragma once

#include <string>

#include <pinion/base/number_text.hpp>
#include <pinion/op/elementwise/formula.hpp>
#include <pinion/op/elementwise/held_formula.hpp>
#include <pinion/op/layout/op.hpp>
#include <pinion/op/nn/op.hpp>
#include <pinion/op/reduce/op.hpp>
#include <pinion/opkit/gradient_context.hpp>
#include <pinion/opkit/shape_context.hpp>
#include <pinion/opkit/work_context.hpp>

namespace pinion { inline namespace v0 { namespace op { namespace detail {

PINION_DECL void expect_floating(const shape_context& c, int i, std::string_view what) {
  if (!dtypes::floating.has(c.dtype(i)))
    c.fail(std::string(what) + " of " + c.op() + " are float or double, not " + std::string(to_string(c.dtype(i))));
}

PINION_DECL void expect_index(const shape_context& c, int i, std::string_view what) {
  if (c.dtype(i) != dtype::int32 && c.dtype(i) != dtype::int64)
    c.fail(std::string(what) + " of " + c.op() + " are int32 or int64, not " + std::string(to_string(c.dtype(i))));
}

PINION_DECL std::int64_t extent_of(const shape_context& c, int i, int axis) {
  return c.shape(i).has_rank() ? c.shape(i)[axis] : unknown;
}

PINION_DECL std::int64_t common_rows(const shape_context& c, int a, int b) {
  const std::int64_t m = extent_of(c, a, 0), n = extent_of(c, b, 0);
  if (m >= 0 && n >= 0 && m != n)
    c.fail(c.op() + " of shapes " + to_string(c.shape(a)) + " and " + to_string(c.shape(b)) + ": " + std::to_string(m) +
           " rows and " + std::to_string(n));
  return m >= 0 ? m : n;
}

PINION_DECL void infer_softmax(shape_context& c) {
  expect_floating(c, 0, "the logits");
  if (c.shape(0).has_rank() && c.shape(0).rank() == 0) c.fail(c.op() + " works along the last axis; a scalar has none");
  c.output(c.dtype(0), c.shape(0));
}

PINION_DECL output row_sum(gradient_context& g, output x) {
  return g.make(reduce_sum::name, {x}, {{"axes", integers{-1}}, {"keep_dims", true}});
}

}}}}  // namespace pinion::v0::op::detail

namespace pinion { inline namespace v0 { namespace op {

PINION_DECL void softmax_like::infer(shape_context& c) {
  detail::infer_softmax(c);
}

PINION_DECL double softmax_like::work(const work_context& c) {
  return 5 * c.elements();
}

PINION_DECL void softmax::gradient(gradient_context& g) {
  const output y = g.output(0), dy = g.output_gradient(0);
  const output weighted = elementwise<multiply>(
      g, [](auto a, auto b) { return a * b; }, dy, y);
  g.set(0, elementwise<multiply, formula::softmax_gradient>(g, dy, detail::row_sum(g, weighted), y));
}

PINION_DECL void log_softmax::gradient(gradient_context& g) {
  const output y = g.output(0), dy = g.output_gradient(0);
  g.set(0, elementwise<subtract, formula::log_softmax_gradient>(g, dy, detail::row_sum(g, dy), y));
}

PINION_DECL void scale_rows::infer(shape_context& c) {
  detail::expect_floating(c, 0, "the rows");
  c.expect_rank(1, 1, "the scale of ScaleRows");
  if (c.shape(0).has_rank() && c.shape(0).rank() == 0) c.fail("ScaleRows needs rows; a scalar has none");
  detail::common_rows(c, 0, 1);
  c.output(c.dtype(0), c.shape(0));
}

PINION_DECL void scale_rows::gradient(gradient_context& g) {
  const output dy = g.output_gradient(0);
  g.set(0, g.make(name, {dy, g.input(1)}));
  const output product = elementwise<multiply>(
      g, [](auto a, auto b) { return a * b; }, dy, g.input(0));
  const output each = g.make(merge_axes::name, {product}, {{"axis", std::int64_t{1}}});
  g.set(1, g.make(reduce_sum::name, {each}, {{"axes", integers{1}}, {"keep_dims", false}}));
}

}}}  // namespace pinion::v0::op

namespace pinion { inline namespace v0 { namespace op { namespace detail {

PINION_DECL output sum_of(gradient_context& g, output a, output b) {
  return elementwise<add>(
      g, [](auto x, auto y) { return x + y; }, a, b);
}

PINION_DECL output gradient_by_logits(gradient_context& g) {
  const output first = g.make(scale_rows::name, {g.output(1), g.output_gradient(0)});
  if (!g.has_output_gradient(1)) return first;
  const output p = g.make(softmax::name, {g.input(1)}), dy = g.output_gradient(1);
  const output weighted = elementwise<multiply>(
      g, [](auto a, auto b) { return a * b; }, dy, p);
  const output second = elementwise<multiply, formula::softmax_gradient>(g, dy, row_sum(g, weighted), p);
  return sum_of(g, first, second);
}

}}}}  // namespace pinion::v0::op::detail

namespace pinion { inline namespace v0 { namespace op {

PINION_DECL void softmax_cross_entropy::infer(shape_context& c) {
  detail::expect_floating(c, 1, "the logits");
  c.expect_same_dtype(0, 1);
  c.expect_rank(0, 2, "the labels");
  c.expect_rank(1, 2, "the logits");
  if (!fits(c.shape(0), c.shape(1)))
    c.fail("labels of shape " + to_string(c.shape(0)) + " for logits of shape " + to_string(c.shape(1)));
  const std::int64_t rows = detail::common_rows(c, 0, 1);
  const std::int64_t of_labels = detail::extent_of(c, 0, 1), of_logits = detail::extent_of(c, 1, 1);
  c.output(c.dtype(1), {rows});
  c.output(c.dtype(1), {rows, of_logits >= 0 || of_labels < 0 ? of_logits : of_labels});
}

PINION_DECL void softmax_cross_entropy::gradient(gradient_context& g) {
  const output dloss = g.output_gradient(0);
  const output scaled = g.make(scale_rows::name, {g.make(log_softmax::name, {g.input(1)}), dloss});
  output by_labels = elementwise<negate>(
      g, [](auto x) { return -x; }, scaled);
  if (g.has_output_gradient(1))
    by_labels = elementwise<subtract>(
        g, [](auto x, auto dy) { return x - dy; }, by_labels, g.output_gradient(1));
  g.set(0, by_labels);
  g.set(1, detail::gradient_by_logits(g));
}

PINION_DECL void sparse_softmax_cross_entropy::infer(shape_context& c) {
  detail::expect_index(c, 0, "the labels");
  detail::expect_floating(c, 1, "the logits");
  c.expect_rank(0, 1, "the labels");
  c.expect_rank(1, 2, "the logits");
  const std::int64_t rows = detail::common_rows(c, 0, 1);
  c.output(c.dtype(1), {rows});
  c.output(c.dtype(1), {rows, detail::extent_of(c, 1, 1)});
}

PINION_DECL void sparse_softmax_cross_entropy::gradient(gradient_context& g) {
  g.set(1, detail::gradient_by_logits(g));
}

PINION_DECL void in_top_k::infer(shape_context& c) {
  detail::expect_floating(c, 0, "the predictions");
  detail::expect_index(c, 1, "the targets");
  c.expect_rank(0, 2, "the predictions");
  c.expect_rank(1, 1, "the targets");
  c.output(dtype::boolean, {detail::common_rows(c, 0, 1)});
}

PINION_DECL void expect_dropout_rate(double rate) {
  if (!(rate >= 0 && rate < 1))
    throw error(errc::invalid_argument, "a dropout rate of " + number_text(rate) + " is not in [0, 1)");
}

}}}  // namespace pinion::v0::op
