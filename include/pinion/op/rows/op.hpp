// Updates of parts of variables at indices: rows along an axis, and parts at indices of several numbers.
//
// Parts are written in the order of their indices, so one that is named twice gets both updates, and the last of two
// values stays. A step that fails on an index leaves the variable as it was.
#pragma once

#include <string>
#include <string_view>

#include <pinion/base/config.hpp>
#include <pinion/op/variable/op.hpp>
#include <pinion/opkit/attribute_list.hpp>
#include <pinion/opkit/definition.hpp>

namespace pinion { inline namespace v0 { namespace op {

namespace detail {
// The shape functions of updates at indices: input 0 is the reference, 1 the indices, 2 the updates. They yield the new
// value.
void infer_row_update(shape_context& c);
void infer_part_update(shape_context& c);

// The shape of rows at indices of a variable, along an axis. Throws invalid_argument for an axis that it does not have,
// and for updates of another shape that are no scalar, as far as shapes are known.
void expect_row_updates(const shape& variable, std::int64_t axis, const shape& indices, const shape& updates);
}  // namespace detail

// (variable, indices [...], updates) -> the variable, whose rows at the indices along "axis" (default 0) are written:
// the axes of the indices stand in place of that axis in the shape of the updates, which may be a scalar, too.
template <class Self>
struct row_update {
  static constexpr input_count inputs = 3;
  static constexpr attribute_list attrs{attr::integer("axis").optional()};
  static constexpr int states = 1;
  static constexpr kernel_set kernels{.cpu = dtypes::numbers, .gpu = {}};
  static constexpr bool stateful = true;
  static constexpr std::string_view no_gradient = "an update of rows changes state; differentiate by the updates";
  static void infer(shape_context& c) { detail::infer_row_update(c); }
};
// (variable, indices [..., d], updates) -> the variable, whose parts at the indices along its first d axes are written.
// Updates have the shape that gather_nd yields.
template <class Self>
struct part_update : row_update<Self> {
  static constexpr attribute_list attrs{};
  static void infer(shape_context& c) { detail::infer_part_update(c); }
};

struct scatter_update : row_update<scatter_update> {
  static constexpr std::string_view name = "ScatterUpdate";
  static constexpr kernel_set kernels{.cpu = dtypes::moved, .gpu = {}};
};
struct scatter_nd_update : part_update<scatter_nd_update> {
  static constexpr std::string_view name = "ScatterNdUpdate";
  static constexpr kernel_set kernels = scatter_update::kernels;
};

// The updates that compute: what a row holds, and the update of it.
#define PINION_ROW_OPS(X)      \
  X(scatter_add, "ScatterAdd") \
  X(scatter_sub, "ScatterSub") \
  X(scatter_mul, "ScatterMul") \
  X(scatter_div, "ScatterDiv") \
  X(scatter_min, "ScatterMin") \
  X(scatter_max, "ScatterMax")
#define PINION_PART_OPS(X)          \
  X(scatter_nd_add, "ScatterNdAdd") \
  X(scatter_nd_sub, "ScatterNdSub")
#define PINION_OP(tag, op_name)                       \
  struct tag : row_update<tag> {                      \
    static constexpr std::string_view name = op_name; \
  };
PINION_ROW_OPS(PINION_OP)
#undef PINION_OP
#define PINION_OP(tag, op_name)                       \
  struct tag : part_update<tag> {                     \
    static constexpr std::string_view name = op_name; \
  };
PINION_PART_OPS(PINION_OP)
#undef PINION_OP

}}}  // namespace pinion::v0::op

#if PINION_HEADER_ONLY
#include <pinion/op/rows/op.ipp>
#endif
