// Assignments of values to variables on GPUs.
#pragma once

#include <memory>
#include <utility>

#include <pinion/op/variable/cuda_kernels.hpp>
#include <pinion/op/variable/op.hpp>
#include <pinion/opkit/kernel.hpp>
#include <pinion/state/variable.hpp>

namespace pinion { inline namespace v0 { namespace op {

namespace detail {

// Where an earlier kernel of the step met a wrong value, a variable that has a value keeps it: the new memory gets it.
inline void keep_old_value_if_wrong(kernel_context& c, const state::variable& of, const any_tensor& to) {
  const auto wrong = c.watch ? c.watch->wrong_so_far(*c.device) : cuda::wrong_places{};
  if (wrong.count == 0 || !of.initialised()) return;
  if (const any_tensor old = of.read(); old.shape() == to.shape())
    cuda::copy_if_wrong(c.device->stream()->native(), to.raw(), old.raw(), old.bytes(), wrong);
}

}  // namespace detail

// The variable takes over the value's memory if nobody else holds it. Otherwise it takes a copy, so that its memory is
// its own and later updates are in place.
inline std::unique_ptr<kernel> make_cuda_kernel(assign, const kernel_setup& setup) {
  return make_function_kernel([state = state::find_variable(setup.services, setup.referenced(0))](kernel_context& c) {
    const bool free = c.inputs[1].unique();
    const any_tensor given = std::move(c.inputs[1]);
    c.inputs[1] = {};
    const any_tensor value = free ? given : any_tensor(given.dtype(), given.shape(), c.device->memory());
    if (!free) cuda::copy_bytes(c.device->stream()->native(), value.raw(), given.raw(), given.bytes());
    detail::keep_old_value_if_wrong(c, *state, value);
    state->assign(value);
    if (c.wants(0)) c.outputs[0] = value;
  });
}

}}}  // namespace pinion::v0::op
