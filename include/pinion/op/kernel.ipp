// Bodies of <pinion/op/kernel.hpp>.
#pragma once

#include <pinion/base/thread_pool.hpp>
#include <pinion/op/kernel.hpp>

namespace pinion::inline v0 {

PINION_DECL any_tensor& kernel_context::allocate(int i, dtype type, const shape& extent) {
  return outputs[static_cast<std::size_t>(i)] = any_tensor(type, extent, device->memory());
}

PINION_DECL any_tensor& kernel_context::reuse_or_allocate(int i, int from, dtype type, const shape& extent) {
  any_tensor& in = inputs[static_cast<std::size_t>(from)];
  if (in.dtype() == type && in.shape() == extent && in.unique()) return outputs[static_cast<std::size_t>(i)] = in;
  return allocate(i, type, extent);
}

PINION_DECL void kernel_context::run_chunks(task_services& s, std::int64_t chunks, loop_body body) {
  if (s.intra_op) return s.intra_op->run_chunks(chunks, body);
  for (std::int64_t i = 0; i < chunks; ++i) body(i);
}

PINION_DECL void kernel::start(kernel_context& context, ended done) {
  run(context);
  done(nullptr);
}

}  // namespace pinion::inline v0
