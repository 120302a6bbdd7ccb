// Bodies of <pinion/op/strided/op.hpp>.
#pragma once

#include <string>

#include <pinion/op/elementwise/formula.hpp>
#include <pinion/op/slice/op.hpp>
#include <pinion/op/strided/op.hpp>
#include <pinion/op/strided/spec.hpp>
#include <pinion/opkit/axes.hpp>
#include <pinion/opkit/gradient_context.hpp>
#include <pinion/opkit/shape_context.hpp>

namespace pinion { inline namespace v0 { namespace op {

PINION_DECL void strided_slice::infer(shape_context& c) {
  const detail::strided_spec spec(c.attrs());
  const shape& x = c.shape(0);
  c.output(c.dtype(0), x.has_rank() ? detail::sliced_shape(spec.ranges(x)) : shape::any());
}

PINION_DECL void strided_slice::gradient(gradient_context& g) {
  g.set(0, g.make(strided_slice_grad::name, {g.output_gradient(0), g.input(0)}, g.attrs()));
}

PINION_DECL void strided_slice_grad::infer(shape_context& c) {
  c.expect_one_dtype();
  const detail::strided_spec spec(c.attrs());
  const shape& like = c.shape(1);
  if (like.has_rank()) detail::expect_sliced(c.shape(0), detail::sliced_shape(spec.ranges(like)), like);
  c.output(c.dtype(0), like);
}

PINION_DECL void strided_slice_grad::gradient(gradient_context& g) {
  g.set(0, g.make(strided_slice::name, {g.output_gradient(0)}, g.attrs()));
}

PINION_DECL void reverse::infer(shape_context& c) {
  if (c.shape(0).has_rank()) detail::reversed_axes(c.attrs().get<integers>("axes"), c.shape(0));
  c.output(c.dtype(0), c.shape(0));
}

PINION_DECL void reverse::gradient(gradient_context& g) {
  g.set(0, g.make(name, {g.output_gradient(0)}, g.attrs()));
}

PINION_DECL void roll::infer(shape_context& c) {
  const auto &shifts = c.attrs().get<integers>("shifts"), &axes = c.attrs().get<integers>("axes");
  if (shifts.size() != axes.size())
    c.fail("Roll has " + std::to_string(shifts.size()) + " shifts for " + std::to_string(axes.size()) +
           " axes: one for each");
  for (const std::int64_t axis : axes)
    if (c.shape(0).has_rank()) checked_axis(axis, c.shape(0).rank());
  c.output(c.dtype(0), c.shape(0));
}

PINION_DECL void roll::gradient(gradient_context& g) {
  integers back = g.attrs().get<integers>("shifts");
  for (std::int64_t& shift : back) shift = -shift;
  g.set(0, g.make(name, {g.output_gradient(0)}, {{"shifts", back}, {"axes", g.attrs().get<integers>("axes")}}));
}

PINION_DECL void detail::expect_broadcast(const shape& x, const shape& to) {
  if (!x.has_rank()) return;
  const int added = to.rank() - x.rank();
  bool agree = added >= 0;
  for (int i = 0; agree && i < x.rank(); ++i) agree = x[i] < 0 || x[i] == 1 || x[i] == to[added + i];
  if (!agree)
    throw error(errc::invalid_argument, "a tensor of shape " + to_string(x) + " does not broadcast to " +
                                            to_string(to) +
                                            ": aligned at the last axis, its extents agree with that or are 1");
}

PINION_DECL void broadcast_to::infer(shape_context& c) {
  const auto& to = c.attrs().get<shape>("shape");
  if (!to.known()) c.fail("BroadcastTo needs a shape of known extents, not " + to_string(to));
  if (!countable(to)) throw error(errc::resource_exhausted, "no memory holds a tensor of shape " + to_string(to));
  detail::expect_broadcast(c.shape(0), to);
  c.output(c.dtype(0), to);
}

PINION_DECL void broadcast_to::gradient(gradient_context& g) {
  if (is_floating(g.type_of(g.output(0)).dtype)) g.set(0, sum_like(g, g.input(0), g.output_gradient(0)));
}

}}}  // namespace pinion::v0::op
