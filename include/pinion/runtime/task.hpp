// What one task computes with: its devices, its state and its threads.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include <pinion/base/thread_pool.hpp>
#include <pinion/device/cpu.hpp>
#include <pinion/device/sim.hpp>
#include <pinion/op/build.hpp>
#include <pinion/op/kernels.hpp>
#include <pinion/placement/device_info.hpp>
#include <pinion/runtime/cost_recorder.hpp>
#include <pinion/runtime/resource_manager.hpp>

namespace pinion::inline v0::runtime {

struct task_options {
  device_spec name = parse_device("/job:localhost/replica:0/task:0");
  int cpu_devices = 1;
  std::vector<sim::accelerator> simulated = {};
  int inter_op_helpers = 0, intra_op_helpers = 0;  // threads beside those that call
};

// Owned by a session or a server; outlives the steps that run on it. Thread-safe.
class task {
 public:
  explicit task(const task_options& o) : inter_op(o.inter_op_helpers), intra_op(o.intra_op_helpers) {
    for (int i = 0; i < std::max(1, o.cpu_devices); ++i)
      devices.push_back(std::make_unique<devices::cpu_device>(o.name.with_type("CPU").with_index(i)));
    std::map<std::string, int> next;
    for (const auto& like : o.simulated)
      devices.push_back(
          std::make_unique<devices::sim_device>(o.name.with_type(like.type).with_index(next[like.type]++), like));
  }
  task(const task&) = delete;

  std::vector<device_info> device_infos() const {
    std::vector<device_info> list;
    for (const auto& d : devices)
      list.push_back({.spec = d->spec(),
                      .name = d->name(),
                      .memory_limit = d->memory_limit(),
                      .description = d->description(),
                      .memory_is_limited = d->memory_is_limited()});
    return list;
  }

  std::vector<std::unique_ptr<devices::device>> devices;
  local_resource_manager resources;  // variables live in the memory of devices
  thread_pool inter_op, intra_op;
  task_services services{&resources, &intra_op};
};

// The kernels of a session. Those of stateful ops live as long as it: a random op goes on where it was, whatever step
// it runs in. Thread-safe.
class session_kernels {
 public:
  // With a recorder every kernel is timed.
  explicit session_kernels(std::shared_ptr<cost_recorder> recorder = nullptr) : recorder_(std::move(recorder)) {}

  std::shared_ptr<kernel> find_or_make(const kernel_setup& setup) {
    if (!definition_of(setup.node.op).stateful) return timed(make_kernel_for(setup));
    const auto one = kept(setup.node.name);
    std::lock_guard one_makes_it(one->making);
    if (!one->made) one->made = timed(make_kernel_for(setup));
    return one->made;
  }
  void clear() {
    std::lock_guard hold(mutex_);
    kept_.clear();
  }

 private:
  // Made once, under a lock of its own: what a kernel does when it is made is a matter of its op.
  struct kept_kernel {
    std::mutex making;
    std::shared_ptr<kernel> made;
  };
  std::shared_ptr<kept_kernel> kept(const std::string& name) {
    std::lock_guard hold(mutex_);
    auto& one = kept_[name];
    if (!one) one = std::make_shared<kept_kernel>();
    return one;
  }
  std::shared_ptr<kernel> timed(std::shared_ptr<kernel> k) const {
    return recorder_ ? std::make_shared<timed_kernel>(std::move(k), recorder_) : k;
  }
  const std::shared_ptr<cost_recorder> recorder_;
  std::mutex mutex_;
  std::unordered_map<std::string, std::shared_ptr<kept_kernel>> kept_;
};

}  // namespace pinion::inline v0::runtime
