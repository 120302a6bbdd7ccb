// Bodies of <pinion/op/distribution/op.hpp>.
#pragma once

#include <string>

#include <pinion/op/distribution/op.hpp>
#include <pinion/opkit/shape_context.hpp>
#include <pinion/opkit/work_context.hpp>

namespace pinion { inline namespace v0 { namespace op { namespace detail { namespace distribution {

// The shape of the draws for each parameter, with that of the parameters behind it.
inline shape joined(const shape_context& c, const shape& draws, const shape& parameters) {
  if (!draws.known()) c.fail(c.op() + " of shape " + to_string(draws) + " for each parameter; it must be known");
  if (!parameters.has_rank()) return shape::any();
  if (draws.rank() + parameters.rank() > shape::max_rank)
    c.fail(c.op() + " of shape " + to_string(draws) + " for each parameter of " + to_string(parameters) +
           " has more than " + std::to_string(shape::max_rank) + " axes");
  shape all = draws;
  for (int axis = 0; axis < parameters.rank(); ++axis) all.push_back(parameters[axis]);
  return all;
}

inline void infer(shape_context& c, dtype type) {
  if (!dtypes::floating.has(c.dtype(0)))
    c.fail(c.op() + " of parameters of " + std::string(to_string(c.dtype(0))) + "; they are float or double");
  c.output(type, joined(c, c.attrs().get<shape>("shape"), c.shape(0)));
}

}}}}}  // namespace pinion::v0::op::detail::distribution

namespace pinion { inline namespace v0 { namespace op {

PINION_DECL void random_gamma::infer(shape_context& c) {
  detail::distribution::infer(c, c.dtype(0));
}

PINION_DECL double random_gamma::work(const work_context& c) {
  return 64 * c.elements();
}

PINION_DECL void random_poisson::infer(shape_context& c) {
  const auto type = c.attrs().get<dtype>("dtype");
  c.expect_dtype(type, types);
  detail::distribution::infer(c, type);
}

PINION_DECL double random_poisson::work(const work_context& c) {
  return 64 * c.elements();
}

}}}  // namespace pinion::v0::op
