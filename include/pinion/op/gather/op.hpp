// Rows by index: gathered from a tensor, and added up into one.
#pragma once

#include <string>

#include <pinion/op/definition.hpp>
#include <pinion/op/gradient_context.hpp>
#include <pinion/op/shape_context.hpp>

namespace pinion::inline v0::op {

namespace detail {

inline void expect_row_index(const shape_context& c, int i) {
  if (c.dtype(i) != dtype::int32 && c.dtype(i) != dtype::int64)
    c.fail("the indices of " + c.op() + " are int32 or int64, not " + std::string(to_string(c.dtype(i))));
}

// The shape of one index's share, put behind `front`.
inline shape with_row_of(shape front, const shape& params) {
  for (int i = 1; i < params.rank(); ++i) front.push_back(params[i]);
  return front;
}

}  // namespace detail

// (params [m, ...], indices [...]) -> [indices..., params without its first axis]. Attribute "axis": 0, or absent. An
// index outside [0, m) fails the step.
struct gather {
  static constexpr std::string_view name = "Gather";
  static constexpr kernel_set kernels{.cpu = dtypes::plain, .gpu = dtypes::plain};
  static void infer(shape_context& c) {
    detail::expect_row_index(c, 1);
    if (c.attrs().get_or<std::int64_t>("axis", 0) != 0) c.fail("Gather along an axis other than 0 is not implemented");
    const shape &params = c.shape(0), &indices = c.shape(1);
    if (params.has_rank() && params.rank() == 0) c.fail("Gather needs rows to choose from; a scalar has none");
    const bool ranked = params.has_rank() && indices.has_rank();
    c.output(c.dtype(0), ranked ? detail::with_row_of(indices, params) : shape::any());
  }
  // Sparse: rows of the incoming gradient, by the same indices.
  static void gradient(gradient_context& g) {
    if (!is_floating(g.type_of(g.output(0)).dtype)) return;
    const output indices = g.input(1), dy = g.output_gradient(0);
    const shape& chosen = g.type_of(indices).shape;
    if (chosen.rank() == 1) return g.set_sparse(0, indices, dy);
    const shape& params = g.type_of(g.input(0)).shape;
    const shape rows = detail::with_row_of({chosen.count()}, params);
    int open = 0;
    for (const std::int64_t extent : rows.dims()) open += extent < 0;
    if (!params.has_rank() || open > 1)
      g.fail("the gradient of a gather from a tensor of shape " + to_string(params) + " by indices of shape " +
             to_string(chosen) + " needs the rows' shape to be known");
    g.set_sparse(0, g.make("Reshape", {indices}, {{"shape", shape{chosen.count()}}}),
                 g.make("Reshape", {dy}, {{"shape", rows}}));
  }
};

// (indices [n], rows [n, ...], like [m, ...]) -> a tensor of the shape of `like`: at each index the sum of its rows, in
// their order, and 0 elsewhere. It makes a sparse gradient dense.
struct scatter_dense {
  static constexpr std::string_view name = "ScatterDense";
  static constexpr kernel_set kernels{.cpu = dtypes::numbers,
                                      .gpu = dtypes::floating | dtype_set{dtype::int32, dtype::int64}};
  static void infer(shape_context& c) {
    detail::expect_row_index(c, 0);
    c.expect_rank(0, 1, "the indices of ScatterDense");
    const shape &indices = c.shape(0), &rows = c.shape(1), &like = c.shape(2);
    if (like.has_rank() && like.rank() == 0) c.fail("ScatterDense needs rows to add to; a scalar has none");
    if (like.has_rank() && !fits(rows, detail::with_row_of({indices.has_rank() ? indices[0] : unknown}, like)))
      c.fail("rows of shape " + to_string(rows) + " at indices of shape " + to_string(indices) +
             " are not rows of a tensor of shape " + to_string(like));
    c.output(c.dtype(1), like);
  }
  static void gradient(gradient_context& g) { g.set(1, g.make(gather::name, {g.output_gradient(0), g.input(0)})); }
};

}  // namespace pinion::inline v0::op
