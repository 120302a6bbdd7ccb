// Rows by index: gathered from a tensor, whole or in parts, and added up into one; and one-hot rows.
#pragma once

#include <pinion/base/config.hpp>
#include <pinion/graph/op_names.hpp>
#include <pinion/opkit/attribute_list.hpp>
#include <pinion/opkit/definition.hpp>

namespace pinion { inline namespace v0 { namespace op {

namespace detail {

void expect_row_index(const shape_context& c, int i);

// The shape of a gather along an axis: the extents of the indices replace that axis of params.
shape chosen_along(const shape& params, int axis, const shape& indices);

std::int64_t axis_of(const attributes& attrs);

}  // namespace detail

// (params, indices [...]) -> params with its axis "axis" (default 0) replaced by the axes of the indices: for each
// index the part of params there. An index outside the axis fails the step.
struct gather {
  static constexpr std::string_view name = "Gather";
  static constexpr input_count inputs = 2;
  static constexpr attribute_list attrs{attr::integer("axis").optional()};
  static constexpr bool bears_changing_inputs = true;
  static constexpr kernel_set kernels{.cpu = dtypes::all, .gpu = dtypes::plain};
  static void infer(shape_context& c);
  // The gradient along axis 0 is sparse: rows of the incoming gradient, with the same indices.
  static void gradient(gradient_context& g);
};

// Splits indices [...] of rows of a tensor that is cut along its first axis into parts of "rows" rows each. Outputs:
// for each part the indices that fall into it, counted from its first row, [n], in their order; and last, with the
// shape of the indices, the position of each row once the gathered parts are put one after the other. So
//
//   y = Gather(ConcatV2(Gather(part 0, output 0), Gather(part 1, output 1), ...), last output)
//
// moves only the rows that the indices name. An index outside fails the step.
struct partition_indices {
  static constexpr std::string_view name = "PartitionIndices";
  static constexpr input_count inputs = 1;
  static constexpr attribute_list attrs{attr::integers("rows").up_to(1 << 16)};
  static constexpr kernel_set kernels{.cpu = dtypes::signed_integers, .gpu = {}};
  static constexpr bool on_host = true;  // the output shapes depend on elements
  static void infer(shape_context& c);
  static void gradient(gradient_context&) {}  // indices are integers: no gradient
};

// (indices [n], rows, like) -> a tensor of the shape of `like`, with the sum of the rows of each index along "axis"
// (default 0), added in their order, and 0 elsewhere. Rows have the shape of `like`, except for extent n along that
// axis. It makes a sparse gradient dense.
struct scatter_dense {
  static constexpr std::string_view name = op_names::scatter_dense;
  static constexpr input_count inputs = 3;
  static constexpr attribute_list attrs{attr::integer("axis").optional()};
  static constexpr bool bears_changing_inputs = true;
  static constexpr int reads = 2;
  static constexpr kernel_set kernels{.cpu = dtypes::numbers, .gpu = dtypes::floating | dtypes::signed_integers};
  static void infer(shape_context& c);
  static void gradient(gradient_context& g);
};

// indices [...] -> [..., "depth"] of "dtype": 1 at the index, 0 elsewhere; all 0 for an index outside [0, depth).
struct one_hot {
  static constexpr std::string_view name = "OneHot";
  static constexpr input_count inputs = 1;
  static constexpr attribute_list attrs{attr::integer("depth"), attr::dtype("dtype")};
  static constexpr kernel_set kernels{.cpu = dtypes::plain, .gpu = dtypes::plain};
  static void infer(shape_context& c);
  static void gradient(gradient_context&) {}  // indices are integers: no gradient
};

}}}  // namespace pinion::v0::op

#if PINION_HEADER_ONLY
#include <pinion/op/gather/op.ipp>
#endif
