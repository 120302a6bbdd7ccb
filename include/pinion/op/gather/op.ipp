// Bodies of <pinion/op/gather/op.hpp>.
#pragma once

#include <string>

#include <pinion/op/gather/op.hpp>
#include <pinion/op/layout/op.hpp>
#include <pinion/opkit/axes.hpp>
#include <pinion/opkit/gradient_context.hpp>
#include <pinion/opkit/shape_context.hpp>

namespace pinion { inline namespace v0 { namespace op { namespace detail {

PINION_DECL void expect_row_index(const shape_context& c, int i) {
  if (c.dtype(i) != dtype::int32 && c.dtype(i) != dtype::int64)
    c.fail("the indices of " + c.op() + " are int32 or int64, not " + std::string(to_string(c.dtype(i))));
}

PINION_DECL shape chosen_along(const shape& params, int axis, const shape& indices) {
  shape y;
  for (int i = 0; i < axis; ++i) y.push_back(params[i]);
  for (int i = 0; i < indices.rank(); ++i) y.push_back(indices[i]);
  for (int i = axis + 1; i < params.rank(); ++i) y.push_back(params[i]);
  return y;
}

PINION_DECL std::int64_t axis_of(const attributes& attrs) {
  return attrs.get_or<std::int64_t>("axis", 0);
}

}}}}  // namespace pinion::v0::op::detail

namespace pinion { inline namespace v0 { namespace op {

PINION_DECL void gather::infer(shape_context& c) {
  detail::expect_row_index(c, 1);
  const shape &params = c.shape(0), &indices = c.shape(1);
  if (!params.has_rank()) return c.output(c.dtype(0), shape::any());
  if (params.rank() == 0) c.fail("Gather needs rows to choose from; a scalar has none");
  const int axis = checked_axis(detail::axis_of(c.attrs()), params.rank());
  c.output(c.dtype(0), indices.has_rank() ? detail::chosen_along(params, axis, indices) : shape::any());
}

PINION_DECL void gather::gradient(gradient_context& g) {
  if (!is_floating(g.type_of(g.output(0)).dtype)) return;
  output indices = g.input(1), rows = g.output_gradient(0);
  const shape chosen = g.type_of(indices).shape;
  const std::int64_t given = detail::axis_of(g.attrs());
  if (chosen.rank() != 1) {
    rows = g.make(merge_axes::name, {rows, indices}, {{"axis", given}});
    indices = g.make(reshape::name, {indices}, {{"shape", shape{unknown}}});
  }
  if (given == 0) return g.set_sparse(0, indices, rows);
  g.set(0, g.make(scatter_dense::name, {indices, rows, g.input(0)}, {{"axis", given}}));
}

PINION_DECL void partition_indices::infer(shape_context& c) {
  detail::expect_row_index(c, 0);
  const auto& rows = c.attrs().get<integers>("rows");
  if (rows.empty() || rows.size() > 1 << 16)
    c.fail("PartitionIndices among " + std::to_string(rows.size()) + " parts; 1 to 65536 would do");
  std::int64_t total = 0;
  for (const std::int64_t n : rows) {
    if (n < 0 || !countable({n}) || !countable({total + n})) c.fail("a part of " + std::to_string(n) + " rows");
    total += n;
    c.output(c.dtype(0), {unknown});
  }
  c.output(c.dtype(0), c.shape(0));
}

PINION_DECL void scatter_dense::infer(shape_context& c) {
  detail::expect_row_index(c, 0);
  c.expect_rank(0, 1, "the indices of ScatterDense");
  const shape &indices = c.shape(0), &rows = c.shape(1), &like = c.shape(2);
  c.expect_dtype(c.dtype(1), dtypes::numbers);
  if (like.has_rank() && like.rank() == 0) c.fail("ScatterDense needs rows to add to; a scalar has none");
  if (like.has_rank()) {
    const int axis = checked_axis(detail::axis_of(c.attrs()), like.rank());
    if (!fits(rows, detail::chosen_along(like, axis, {indices.has_rank() ? indices[0] : unknown})))
      c.fail("rows of shape " + to_string(rows) + " at indices of shape " + to_string(indices) +
             " are not rows of a tensor of shape " + to_string(like));
  }
  c.output(c.dtype(1), like);
}

PINION_DECL void scatter_dense::gradient(gradient_context& g) {
  g.set(1, g.make(gather::name, {g.output_gradient(0), g.input(0)}, {{"axis", detail::axis_of(g.attrs())}}));
}

PINION_DECL void one_hot::infer(shape_context& c) {
  if (!is_integer(c.dtype(0))) c.fail("the indices of OneHot are integers, not " + std::string(to_string(c.dtype(0))));
  const auto depth = c.attrs().get<std::int64_t>("depth");
  if (depth < 0) c.fail("a depth of " + std::to_string(depth));
  shape y = c.shape(0);
  if (y.has_rank()) y.push_back(depth);
  c.output(c.attrs().get<dtype>("dtype"), y);
}

}}}  // namespace pinion::v0::op
