// Bodies of <pinion/op/scatter/op.hpp>.
#pragma once

#include <string>

#include <pinion/op/elementwise/formula.hpp>
#include <pinion/op/elementwise/held_formula.hpp>
#include <pinion/op/elementwise/op.hpp>
#include <pinion/op/gather/op.hpp>
#include <pinion/op/scatter/op.hpp>
#include <pinion/op/source/op.hpp>
#include <pinion/opkit/gradient_context.hpp>
#include <pinion/opkit/shape_context.hpp>
#include <pinion/opkit/work_context.hpp>

namespace pinion { inline namespace v0 { namespace op { namespace detail {

PINION_DECL shape parts_at(const shape& indices, const shape& of) {
  if (!indices.has_rank()) return shape::any();
  if (indices.rank() == 0)
    throw error(errc::invalid_argument, "the last axis of the indices holds the numbers of each; a scalar has none");
  const std::int64_t d = indices[indices.rank() - 1];
  if (d > (of.has_rank() ? of.rank() : shape::max_rank))
    throw error(errc::invalid_argument, "indices of shape " + to_string(indices) + " have " + std::to_string(d) +
                                            " numbers each, for a tensor of shape " + to_string(of) +
                                            "; they have at most one for each of its axes");
  if (d < 0 || !of.has_rank()) return shape::any();
  shape y;
  for (int i = 0; i + 1 < indices.rank(); ++i) y.push_back(indices[i]);
  for (auto i = static_cast<int>(d); i < of.rank(); ++i) y.push_back(of[i]);
  return y;
}

PINION_DECL void expect_updates(const shape& indices, const shape& updates, const shape& of) {
  const shape wanted = parts_at(indices, of);
  if (!fits(updates, wanted))
    throw error(errc::invalid_argument, "updates of shape " + to_string(updates) + " at indices of shape " +
                                            to_string(indices) + " of a tensor of shape " + to_string(of) +
                                            "; they would have shape " + to_string(wanted));
}

PINION_DECL shape with_rows(const shape& x, std::int64_t n) {
  if (!x.has_rank()) return x;
  if (x.rank() == 0) throw error(errc::invalid_argument, "segments are made of rows; a scalar has none");
  shape y = x;
  y.set(0, n);
  return y;
}

PINION_DECL void expect_id_each(const shape& x, const shape& ids) {
  if (x.has_rank() && x.rank() == 0)
    throw error(errc::invalid_argument, "segments are made of rows; a scalar has none");
  if (!fits(ids, x.has_rank() ? shape{x[0]} : shape{unknown}))
    throw error(errc::invalid_argument, "ids of shape " + to_string(ids) + " for the rows of a tensor of shape " +
                                            to_string(x) + "; each row has one id");
}

namespace scatter {

inline std::int64_t segments_of(const attributes& attrs) {
  return attrs.get<std::int64_t>("segments");
}

// The output of a scatter into a tensor of that shape.
inline void infer_scatter(shape_context& c, const shape& to) {
  expect_row_index(c, 0);
  c.expect_dtype(c.dtype(1), dtypes::numbers);
  expect_updates(c.shape(0), c.shape(1), to);
  c.output(c.dtype(1), to);
}

// The elements of a segment that are its extreme share the gradient equally. A row that was dropped may look like one,
// since the extreme of no segment is read as 0; its share is 0.
inline void share_gradient(gradient_context& g) {
  if (!is_floating(g.type_of(g.output(0)).dtype)) return;
  const output x = g.input(0), ids = g.input(1);
  const auto at_rows = [&](output y) { return g.make(gather_segments::name, {y, ids}, g.attrs()); };
  const output hits = elementwise<select, formula::is_extreme>(g, x, at_rows(g.output(0)));
  const output ties = g.make(segment_sum::name, {hits, ids}, g.attrs());
  const output shares = elementwise<maximum>(
      g, [](auto n, auto one) { return max(n, one); }, ties, g.make(ones_like::name, {ties}));
  const output share = over(g, g.output_gradient(0), shares);
  g.set(0, times(g, hits, at_rows(share)));
}

// For each row of x the product of the rows of its segment before it, or, in reverse, behind it; 1 where there is none.
inline output product_of_others(gradient_context& g, output x, output ids, bool reverse) {
  const auto recurrence = [&](output a, output b) {
    return g.make(segment_recurrence::name, {a, b, ids}, {{"reverse", reverse}});
  };
  const output ones = g.make(ones_like::name, {x}), zeros = g.make(zeros_like::name, {x});
  const output is_first = minus(g, ones, recurrence(zeros, ones));
  return plus(g, is_first, recurrence(x, times(g, x, is_first)));
}

}  // namespace scatter

}}}}  // namespace pinion::v0::op::detail

namespace pinion { inline namespace v0 { namespace op {

PINION_DECL void gather_nd::infer(shape_context& c) {
  detail::expect_row_index(c, 1);
  c.output(c.dtype(0), detail::parts_at(c.shape(1), c.shape(0)));
}

PINION_DECL void gather_nd::gradient(gradient_context& g) {
  if (!is_floating(g.type_of(g.output(0)).dtype)) return;
  g.set(0, g.make(scatter_nd_like::name, {g.input(1), g.output_gradient(0), g.input(0)}));
}

PINION_DECL void scatter_nd::infer(shape_context& c) {
  const auto& to = c.attrs().get<shape>("shape");
  if (!to.known()) c.fail("ScatterNd makes a tensor of a known shape, not of " + to_string(to));
  detail::scatter::infer_scatter(c, to);
}

PINION_DECL void scatter_nd::gradient(gradient_context& g) {
  if (!is_floating(g.type_of(g.output(0)).dtype)) return;
  g.set(1, g.make(gather_nd::name, {g.output_gradient(0), g.input(0)}));
}

PINION_DECL void scatter_nd_like::infer(shape_context& c) {
  detail::scatter::infer_scatter(c, c.shape(2));
}

PINION_DECL void scatter_nd_like::gradient(gradient_context& g) {
  scatter_nd::gradient(g);
}

PINION_DECL void segment_fold::infer(shape_context& c) {
  c.expect_dtype(c.dtype(0), dtypes::numbers);
  detail::expect_row_index(c, 1);
  detail::expect_id_each(c.shape(0), c.shape(1));
  c.output(c.dtype(0), detail::with_rows(c.shape(0), detail::scatter::segments_of(c.attrs())));
}

PINION_DECL double segment_fold::work(const work_context& c) {
  return c.count(c.input(0).shape);
}

PINION_DECL void segment_sum::gradient(gradient_context& g) {
  if (!is_floating(g.type_of(g.output(0)).dtype)) return;
  g.set(0, g.make(gather_segments::name, {g.output_gradient(0), g.input(1)}, g.attrs()));
}

PINION_DECL void segment_max::gradient(gradient_context& g) {
  detail::scatter::share_gradient(g);
}

PINION_DECL void segment_min::gradient(gradient_context& g) {
  detail::scatter::share_gradient(g);
}

PINION_DECL void segment_prod::gradient(gradient_context& g) {
  if (!is_floating(g.type_of(g.output(0)).dtype)) return;
  const output x = g.input(0), ids = g.input(1);
  const output others = times(g, detail::scatter::product_of_others(g, x, ids, false),
                              detail::scatter::product_of_others(g, x, ids, true));
  g.set(0, times(g, others, g.make(gather_segments::name, {g.output_gradient(0), ids}, g.attrs())));
}

PINION_DECL void segment_recurrence::infer(shape_context& c) {
  const shape &a = c.shape(0), &b = c.shape(1);
  if (!is_floating(c.dtype(0)) || c.dtype(1) != c.dtype(0) || !fits(b, a))
    c.fail("terms of " + std::string(to_string(c.dtype(1))) + " " + to_string(b) + " and factors of " +
           std::string(to_string(c.dtype(0))) + " " + to_string(a) +
           " make no recurrence; they are alike and floating");
  detail::expect_row_index(c, 2);
  detail::expect_id_each(a, c.shape(2));
  c.output(c.dtype(0), a);
}

PINION_DECL void segment_recurrence::gradient(gradient_context& g) {
  const output db =
      g.make(name, {g.input(0), g.output_gradient(0), g.input(2)}, {{"reverse", !g.attrs().get_or("reverse", false)}});
  g.set(1, db);
  if (g.wants(0)) g.set(0, times(g, db, g.output(0)));
}

PINION_DECL void gather_segments::infer(shape_context& c) {
  c.expect_dtype(c.dtype(0), dtypes::numbers);
  detail::expect_row_index(c, 1);
  c.expect_rank(1, 1, "the ids of GatherSegments");
  const std::int64_t n = detail::scatter::segments_of(c.attrs());
  const shape &y = c.shape(0), &ids = c.shape(1);
  if (!fits(y, detail::with_rows(y, n)))
    c.fail("rows of shape " + to_string(y) + " are not those of " + std::to_string(n) + " segments");
  c.output(c.dtype(0), detail::with_rows(y, ids.has_rank() ? ids[0] : unknown));
}

PINION_DECL void gather_segments::gradient(gradient_context& g) {
  if (!is_floating(g.type_of(g.output(0)).dtype)) return;
  g.set(0, g.make(segment_sum::name, {g.output_gradient(0), g.input(1)}, g.attrs()));
}

}}}  // namespace pinion::v0::op
