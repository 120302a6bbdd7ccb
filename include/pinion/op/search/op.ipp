// Bodies of <pinion/op/search/op.hpp>.
#pragma once

#include <string>

#include <pinion/op/search/op.hpp>
#include <pinion/opkit/shape_context.hpp>
#include <pinion/opkit/work_context.hpp>

namespace pinion { inline namespace v0 { namespace op { namespace detail {

PINION_DECL void expect_mask(const attributes& attrs, const shape& mask, const shape& x) {
  if (!mask.has_rank() || !x.has_rank()) return;
  const auto axis = attrs.get<std::int64_t>("axis");
  const std::int64_t first = axis >= 0 ? axis : axis + x.rank() - mask.rank() + 1;
  shape chosen;
  for (std::int64_t i = first; 0 <= i && i < x.rank() && i < first + mask.rank(); ++i)
    chosen.push_back(x[static_cast<int>(i)]);
  if (mask.rank() == 0 || !fits(mask, chosen))
    throw error(errc::invalid_argument, "a mask of shape " + to_string(mask) + " at axis " + std::to_string(axis) +
                                            " of a tensor of shape " + to_string(x) +
                                            "; it has at least one axis, and the extents of those of the tensor");
}

PINION_DECL void expect_lines(const shape& sorted, const shape& values) {
  const shape& known = sorted.has_rank() ? sorted : values;
  if (!known.has_rank()) return;
  shape lines = known;
  if (known.rank() > 0)
    lines.set(known.rank() - 1, values.has_rank() && values.rank() > 0 ? values[values.rank() - 1] : unknown);
  if (known.rank() == 0 || !fits(values, lines))
    throw error(errc::invalid_argument, "values of shape " + to_string(values) + " in sorted lines of shape " +
                                            to_string(sorted) +
                                            "; both have at least one axis, and the same extents before the last");
}

namespace search {

inline void expect_bools(const shape_context& c) {
  if (c.dtype(0) != dtype::boolean)
    c.fail(c.op() + " asks which bools are true, not which elements of " + std::string(to_string(c.dtype(0))) +
           "; a comparison, as x != 0, makes bools");
}

}  // namespace search

}}}}  // namespace pinion::v0::op::detail

namespace pinion { inline namespace v0 { namespace op {

PINION_DECL void where::infer(shape_context& c) {
  detail::search::expect_bools(c);
  c.output(dtype::int64, {unknown, c.shape(0).has_rank() ? c.shape(0).rank() : unknown});
}

PINION_DECL double where::work(const work_context& c) {
  return c.count(c.input(0).shape);
}

PINION_DECL void mask_indices::infer(shape_context& c) {
  detail::search::expect_bools(c);
  detail::expect_mask(c.attrs(), c.shape(0), c.shape(1));
  c.output(dtype::int64, {unknown});
}

PINION_DECL double mask_indices::work(const work_context& c) {
  return where::work(c);
}

PINION_DECL void unique::infer(shape_context& c) {
  c.expect_rank(0, 1, "the elements of Unique");
  c.output(c.dtype(0), {unknown});
  c.output(dtype::int32, c.shape(0).has_rank() ? c.shape(0) : shape{unknown});
}

PINION_DECL double unique::work(const work_context& c) {
  return 16 * c.count(c.input(0).shape);
}

PINION_DECL void lower_bound::infer(shape_context& c) {
  if (c.dtype(0) != c.dtype(1) || !dtypes::numbers.has(c.dtype(0)))
    c.fail(c.op() + " looks for numbers among those of their dtype, not for " + std::string(to_string(c.dtype(1))) +
           " among " + std::string(to_string(c.dtype(0))));
  detail::expect_lines(c.shape(0), c.shape(1));
  c.output(dtype::int32, c.shape(1));
}

}}}  // namespace pinion::v0::op
