// Rows by index: gathered from a tensor, whole or in parts, and added up into one; and rows that are 1 at an index.
#pragma once

#include <pinion/base/config.hpp>
#include <pinion/opkit/definition.hpp>

namespace pinion { inline namespace v0 { namespace op {

namespace detail {

void expect_row_index(const shape_context& c, int i);

// The shape of what is chosen from params along an axis: the indices' extents stand where that axis stood.
shape chosen_along(const shape& params, int axis, const shape& indices);

std::int64_t axis_of(const attributes& attrs);

}  // namespace detail

// (params, indices [...]) -> params with its axis "axis" (0 if absent) replaced by the axes of the indices: for each
// index the part of params there. An index outside the axis fails the step.
struct gather {
  static constexpr std::string_view name = "Gather";
  static constexpr input_count inputs = 2;
  static constexpr kernel_set kernels{.cpu = dtypes::all, .gpu = dtypes::plain};
  static void infer(shape_context& c);
  // Along axis 0 sparse: rows of the incoming gradient, by the same indices.
  static void gradient(gradient_context& g);
};

// indices [...] of rows of a tensor that is kept in parts, cut along its first axis into as many rows as "rows" says of
// each -> the indices of each part, counted from its first row, [n], in the order in which they came; and behind them,
// of the shape of the indices, where the row of each stands when the parts' rows are put one behind the other. So
//
//   y = Gather(ConcatV2(Gather(part 0, output 0), Gather(part 1, output 1), ...), last output)
//
// moves no other rows than those of the indices. An index outside fails the step.
struct partition_indices {
  static constexpr std::string_view name = "PartitionIndices";
  static constexpr input_count inputs = 1;
  static constexpr kernel_set kernels{.cpu = dtype_set{dtype::int32, dtype::int64}, .gpu = {}};
  static constexpr bool on_host = true;  // the shapes of its outputs depend on elements
  static void infer(shape_context& c);
  static void gradient(gradient_context&) {}  // indices are whole numbers: nothing flows
};

// (indices [n], rows, like) -> a tensor of the shape of `like`: at each index along "axis" (0 if absent) the sum of its
// rows, in their order, and 0 elsewhere. Rows have the shape of like, but for n along that axis. It makes a sparse
// gradient dense.
struct scatter_dense {
  static constexpr std::string_view name = "ScatterDense";
  static constexpr input_count inputs = 3;
  static constexpr int reads = 2;
  static constexpr kernel_set kernels{.cpu = dtypes::numbers,
                                      .gpu = dtypes::floating | dtype_set{dtype::int32, dtype::int64}};
  static void infer(shape_context& c);
  static void gradient(gradient_context& g);
};

// indices [...] -> [..., "depth"] of "dtype": 1 at the index, 0 elsewhere; nothing but 0 where it is not in [0, depth).
struct one_hot {
  static constexpr std::string_view name = "OneHot";
  static constexpr input_count inputs = 1;
  static constexpr kernel_set kernels{.cpu = dtypes::plain, .gpu = dtypes::plain};
  static void infer(shape_context& c);
  static void gradient(gradient_context&) {}  // indices are whole numbers: nothing flows
};

}}}  // namespace pinion::v0::op

#if PINION_HEADER_ONLY
#include <pinion/op/gather/op.ipp>
#endif
