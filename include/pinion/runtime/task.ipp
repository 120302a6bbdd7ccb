// Bodies of <pinion/runtime/task.hpp>.
#pragma once

#include <algorithm>
#include <map>

#include <pinion/device/cpu.hpp>
#if PINION_HAS_CUDA
#include <pinion/device/cuda/device.hpp>
#include <pinion/op/cuda_kernels.hpp>
#endif
#include <pinion/device/sim.hpp>
#include <pinion/op/kernels.hpp>
#include <pinion/opkit/build.hpp>
#include <pinion/opkit/registry.hpp>
#include <pinion/runtime/task.hpp>

namespace pinion { inline namespace v0 { namespace runtime {

PINION_DECL task::task(const task_options& o)
    : item_helpers(o.inter_op_helpers),
      pool(std::max(o.inter_op_helpers, o.intra_op_helpers), o.intra_op_helpers, o.spare_threads) {
  for (int i = 0; i < std::max(1, o.cpu_devices); ++i)
    devices.push_back(std::make_unique<devices::cpu_device>(o.name.with_type("CPU").with_index(i)));
#if PINION_HAS_CUDA
  if (o.simulated.empty()) {
    cuda::task_gpus gpus = cuda::make_devices(o.name, o.gpu, &pool);
    for (auto& gpu : gpus.devices) devices.push_back(std::move(gpu));
    no_gpus_ = std::move(gpus.why_none);
  }
#endif
  std::map<std::string, int> next;
  for (const auto& like : sim::visible(o.simulated, o.gpu))
    devices.push_back(
        std::make_unique<devices::sim_device>(o.name.with_type(like.type).with_index(next[like.type]++), like));
}

PINION_DECL std::vector<device_info> task::device_infos() const {
  std::vector<device_info> list;
  for (const auto& d : devices) {
    list.push_back({.spec = d->spec(),
                    .name = d->name(),
                    .memory_limit = d->memory_limit(),
                    .description = d->description(),
                    .memory_is_limited = d->memory_is_limited()});
    if (d->kernels() == devices::kernel_code::cuda) {
      list.back().lacks = registered_without_cuda();
      list.back().is_cuda = true;
    }
  }
  list.front().no_gpus = no_gpus_;
  return list;
}

PINION_DECL std::vector<std::int64_t> task::memory_used() const {
  std::vector<std::int64_t> all;
  for (const auto& d : devices) all.push_back(d->memory_used());
  return all;
}

PINION_DECL std::vector<std::string> task::libraries() const {
#if PINION_HAS_CUDA
  const auto is_cuda = [](const auto& d) { return d->kernels() == devices::kernel_code::cuda; };
  if (std::any_of(devices.begin(), devices.end(), is_cuda)) return open_gpu_libraries();
#endif
  return {};
}

PINION_DECL std::shared_ptr<kernel> session_kernels::find_or_make(const kernel_setup& setup) {
  if (!definition_of(setup.node.op).stateful) return timed(make_kernel_for(setup));
  const auto one = kept(setup.node.name);
  std::lock_guard one_makes_it(one->making);
  if (!one->made) one->made = timed(make_kernel_for(setup));
  return one->made;
}

PINION_DECL void session_kernels::clear() {
  std::lock_guard hold(mutex_);
  kept_.clear();
}

PINION_DECL std::shared_ptr<session_kernels::kept_kernel> session_kernels::kept(const std::string& name) {
  std::lock_guard hold(mutex_);
  auto& one = kept_[name];
  if (!one) one = std::make_shared<kept_kernel>();
  return one;
}

PINION_DECL std::shared_ptr<kernel> session_kernels::timed(std::shared_ptr<kernel> k) const {
  return recorder_ ? std::make_shared<timed_kernel>(std::move(k), recorder_) : k;
}

}}}  // namespace pinion::v0::runtime
