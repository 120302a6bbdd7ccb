// Elements and parts of a tensor at indices of several numbers, and folds of rows into segments.
#pragma once

#include <pinion/base/config.hpp>
#include <pinion/opkit/attribute_list.hpp>
#include <pinion/opkit/definition.hpp>

namespace pinion { inline namespace v0 { namespace op {

namespace detail {

// The shape of the parts of a tensor at indices [..., d]: the axes of the indices before the last, and those of the
// tensor behind its first d. Unknown where d or a rank is. Throws invalid_argument where no index of d numbers has a
// part of the tensor.
shape parts_at(const shape& indices, const shape& of);

// Throws invalid_argument where updates of that shape are not those of parts of a tensor at the indices.
void expect_updates(const shape& indices, const shape& updates, const shape& of);

// The shape of x [m, ...] with n rows in place of its m, which may be unknown.
shape with_rows(const shape& x, std::int64_t n);

// Throws invalid_argument where rows of shape x do not have an id each.
void expect_id_each(const shape& x, const shape& ids);

}  // namespace detail

// (x, indices [..., d]) -> for each index, which is d numbers along the first d axes of x, the part of x there:
// indices.shape[:-1] + x.shape[d:]. An index outside fails the step.
struct gather_nd {
  static constexpr std::string_view name = "GatherNd";
  static constexpr input_count inputs = 2;
  static constexpr attribute_list attrs{};
  static constexpr bool bears_changing_inputs = true;
  static constexpr kernel_set kernels{.cpu = dtypes::all, .gpu = {}};
  static void infer(shape_context& c);
  static void gradient(gradient_context& g);
};

// (indices [..., d], updates) -> a tensor of shape "shape", where each update is added, in their order, to the part at
// its index, and 0 elsewhere. Updates have the shape that gather_nd yields of that tensor.
struct scatter_nd {
  static constexpr std::string_view name = "ScatterNd";
  static constexpr input_count inputs = 2;
  static constexpr attribute_list attrs{attr::shape("shape")};
  static constexpr bool bears_changing_inputs = true;
  static constexpr kernel_set kernels{.cpu = dtypes::numbers, .gpu = {}};
  static void infer(shape_context& c);
  static void gradient(gradient_context& g);
};

// (indices, updates, like): scatter_nd into the shape of `like`. The gradient of gather_nd, and the other way round.
struct scatter_nd_like {
  static constexpr std::string_view name = "ScatterNdLike";
  static constexpr input_count inputs = 3;
  static constexpr attribute_list attrs{};
  static constexpr bool bears_changing_inputs = true;
  static constexpr int reads = 2;
  static constexpr kernel_set kernels = scatter_nd::kernels;
  static void infer(shape_context& c);
  static void gradient(gradient_context& g);
};

// (x [m, ...], ids [m]) -> ["segments", ...], where each row is the fold of the rows of x that have its number as their
// id, in their order. Rows of a negative id are dropped, and an id that is no segment fails the step.
struct segment_fold {
  static constexpr input_count inputs = 2;
  static constexpr attribute_list attrs{attr::integer("segments").between(0, std::int64_t{1} << 56)};
  static constexpr bool bears_changing_inputs = true;
  static constexpr kernel_set kernels{.cpu = dtypes::numbers, .gpu = {}};
  static void infer(shape_context& c);
  static double work(const work_context& c);
};

struct segment_sum : segment_fold {
  static constexpr std::string_view name = "UnsortedSegmentSum";
  static void gradient(gradient_context& g);
};

// A segment without rows has the lowest number of the dtype, and NaN counts as the greatest.
struct segment_max : segment_fold {
  static constexpr std::string_view name = "UnsortedSegmentMax";
  static void gradient(gradient_context& g);
};

// A segment without rows has the highest number of the dtype, and NaN counts as the least.
struct segment_min : segment_fold {
  static constexpr std::string_view name = "UnsortedSegmentMin";
  static void gradient(gradient_context& g);
};

struct segment_prod : segment_fold {
  static constexpr std::string_view name = "UnsortedSegmentProd";
  static void gradient(gradient_context& g);
};

// (a, b, ids [m]), a and b [m, ...] of one shape -> y of that shape, where y = 0 in the first row of a segment, and is
// b + a y of the row of that segment before in the others; with "reverse", in the last row, and of the row behind. It
// is 0 in rows of a negative id. The gradient of b is the op in the other direction, of (a, dy), and that of a is this
// times y. The gradient of segment_prod is made of it, and so divides by no element.
struct segment_recurrence {
  static constexpr std::string_view name = "SegmentRecurrence";
  static constexpr input_count inputs = 3;
  static constexpr attribute_list attrs{attr::flag("reverse").optional()};
  static constexpr bool bears_changing_inputs = true;
  static constexpr kernel_set kernels{.cpu = dtypes::floating, .gpu = {}};
  static void infer(shape_context& c);
  static void gradient(gradient_context& g);
};

// (y ["segments", ...], ids [m]) -> for each id its row of y, [m, ...], and 0 for a negative id. The gradient of
// segment_sum, and the other way round.
struct gather_segments {
  static constexpr std::string_view name = "GatherSegments";
  static constexpr input_count inputs = 2;
  static constexpr attribute_list attrs = segment_fold::attrs;
  static constexpr bool bears_changing_inputs = true;
  static constexpr kernel_set kernels{.cpu = dtypes::numbers, .gpu = {}};
  static void infer(shape_context& c);
  static void gradient(gradient_context& g);
};

}}}  // namespace pinion::v0::op

#if PINION_HEADER_ONLY
#include <pinion/op/scatter/op.ipp>
#endif
