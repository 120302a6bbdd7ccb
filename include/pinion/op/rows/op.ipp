// Bodies of <pinion/op/rows/op.hpp>.
#pragma once

#include <pinion/op/gather/op.hpp>
#include <pinion/op/rows/op.hpp>
#include <pinion/op/scatter/op.hpp>
#include <pinion/opkit/axes.hpp>

namespace pinion { inline namespace v0 { namespace op { namespace detail {

namespace rows {

// Checks the reference, and the dtypes of indices and updates.
inline void expect_update(const shape_context& c) {
  if (!c.type(0).reference) c.fail(c.op() + " writes a variable; its first input is a value");
  const bool is_moved = c.op() == scatter_update::name || c.op() == scatter_nd_update::name;
  if (!(is_moved ? dtypes::moved : dtypes::numbers).has(c.dtype(0)))
    c.fail(c.op() + " of a " + std::string(to_string(c.dtype(0))) + " variable is not defined");
  if (!dtypes::signed_integers.has(c.dtype(1)))
    c.fail("the indices of " + c.op() + " are of " + std::string(to_string(c.dtype(1))) +
           "; they are int32 or int64, and pn::cast converts");
  if (c.dtype(2) != c.dtype(0))
    c.fail("updates of " + std::string(to_string(c.dtype(2))) + " for a " + std::string(to_string(c.dtype(0))) +
           " variable; pn::cast converts them");
}

}  // namespace rows

PINION_DECL void expect_row_updates(const shape& variable, std::int64_t axis, const shape& indices,
                                    const shape& updates) {
  if (!variable.has_rank()) return;
  if (variable.rank() == 0) throw error(errc::invalid_argument, "a scalar variable has no rows");
  const int at = checked_axis(axis, variable.rank());
  if (updates.rank() == 0 || !indices.has_rank()) return;
  const shape wanted = chosen_along(variable, at, indices);
  if (!fits(updates, wanted))
    throw error(errc::invalid_argument, "updates of shape " + to_string(updates) + " at indices of shape " +
                                            to_string(indices) + " of a variable of shape " + to_string(variable) +
                                            "; they would have shape " + to_string(wanted) + " or be a scalar");
}

PINION_DECL void infer_row_update(shape_context& c) {
  rows::expect_update(c);
  expect_row_updates(c.shape(0), c.attrs().get_or("axis", std::int64_t{0}), c.shape(1), c.shape(2));
  c.output(c.dtype(0), c.shape(0));
}

PINION_DECL void infer_part_update(shape_context& c) {
  rows::expect_update(c);
  expect_updates(c.shape(1), c.shape(2), c.shape(0));
  c.output(c.dtype(0), c.shape(0));
}

}}}}  // namespace pinion::v0::op::detail
