// Bodies of <pinion/opkit/kernel.hpp>.
#pragma once

#include <utility>

#include <pinion/base/cancellable_work.hpp>
#include <pinion/base/thread_pool.hpp>
#include <pinion/device/guarded_memory.hpp>
#include <pinion/opkit/kernel.hpp>

namespace pinion { inline namespace v0 {

PINION_DECL cuda::first_wrong* step_watch::expect_values(devices::device& on, describe_wrong describe) {
  (void)describe;
  throw error(errc::internal, "nobody looks for wrong values that kernels of " + on.name() + " meet");
}

PINION_DECL cuda::wrong_places step_watch::wrong_so_far(devices::device&) {
  return {};
}

PINION_DECL void step_watch::add_expected(devices::device& on, const any_tensor&, std::vector<describe_wrong>) {
  throw error(errc::internal, "nobody looks for wrong values that kernels of " + on.name() + " met");
}

PINION_DECL cuda::first_wrong* kernel_context::expect_values(step_watch::describe_wrong describe) {
  return watch->expect_values(
      *device, [describe = std::move(describe), n = node, d = device](std::int64_t position, std::int64_t value) {
        return describe(position, value).at_node(n->name, n->op, to_string(n->where)).on_device(d->name());
      });
}

PINION_DECL any_tensor& kernel_context::allocate(int i, dtype type, const shape& extent) {
  return outputs[static_cast<std::size_t>(i)] = scratch(type, extent);
}

PINION_DECL any_tensor& kernel_context::reuse_or_allocate(int i, int from, dtype type, const shape& extent) {
  any_tensor& in = inputs[static_cast<std::size_t>(from)];
  if (in.dtype() == type && in.shape() == extent && in.unique()) return outputs[static_cast<std::size_t>(i)] = in;
  return allocate(i, type, extent);
}

PINION_DECL void kernel_context::in_chunks(task_services& s, std::int64_t chunks, loop_body body) {
  if (!s.intra_op) {
    for (std::int64_t i = 0; i < chunks; ++i) {
      if (chunks > 1) cancellable_work::check();
      body(i);
    }
    return;
  }
  auto& sims = devices::guarded_memory::of_sims();
  if (!sims.is_open_here_alone()) return s.intra_op->for_each_chunk(chunks, body);
  s.intra_op->for_each_chunk(chunks, [&](std::int64_t i) {
    const devices::guarded_memory::access helper(sims);
    body(i);
  });
}

PINION_DECL void kernel_context::enqueue(devices::stream& s, std::function<void()> body,
                                         std::function<void()> otherwise) {
  if (device->kernels() != devices::kernel_code::host)
    throw error(errc::internal, "the kernel of " + (node ? node->op : std::string("a node")) +
                                    " launches host code, and the kernels of " + device->name() + " are CUDA");
  s.enqueue([body = std::move(body), otherwise = std::move(otherwise), w = watch, n = node, d = device] {
    const auto give_up = [&] {
      if (otherwise) otherwise();
    };
    if (w && w->failed()) return give_up();
    try {
      body();
    } catch (...) {
      if (!w) throw;
      error e = current_error();
      give_up();
      w->fail(n ? e.at_node(n->name, n->op, to_string(n->where)).on_device(d->name()) : e.on_device(d->name()));
    }
  });
}

PINION_DECL void kernel::start(kernel_context& context, ended done) {
  run(context);
  done({});
}

}}  // namespace pinion::v0
