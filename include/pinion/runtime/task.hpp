// The devices, state and threads of one task.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/base/thread_pool.hpp>
#include <pinion/device/gpu_options.hpp>
#include <pinion/placement/device_info.hpp>
#include <pinion/runtime/cost_recorder.hpp>
#include <pinion/runtime/resource_manager.hpp>

namespace pinion { inline namespace v0 { namespace runtime {

// The name, devices and threads of a task.
struct task_options {
  device_spec name = parse_device("/job:localhost/replica:0/task:0");
  int cpu_devices = 1;
  // A task with simulated accelerators has these and no others.
  std::vector<sim::accelerator> simulated = {};
  gpu_options gpu = {};
  // Threads in addition to the callers: those that run items beside each other, and those that share a loop. The task
  // has as many as the larger number says, and each does both.
  int inter_op_helpers = 0, intra_op_helpers = 0;
  int spare_threads = 0;  // at most, for sessions that would wait for others' long steps
};

// A task. Owned by a session or a server, and outlives the steps that run on it. Thread-safe.
class task {
 public:
  explicit task(const task_options& o);
  task(const task&) = delete;

  std::vector<device_info> device_infos() const;
  // The bytes in use of the memory of each device. CPU devices share the memory of the process's pool.
  std::vector<std::int64_t> memory_used() const;
  // device_info::libraries of its GPUs, for which it opens them; none without a GPU.
  std::vector<std::string> libraries() const;

  std::vector<std::unique_ptr<devices::device>> devices;
  local_resource_manager resources;  // declared after devices, whose memory variables use
  const int item_helpers;            // threads of the pool that run items of one step beside its caller
  thread_pool pool;                  // runs items and helps with their loops
  task_services services{&resources, &pool};

 private:
  std::string no_gpus_;  // why it has no GPUs of the machine; empty: it has, or nobody looked
};

// The kernels of a session. Kernels of stateful ops live as long as the session: a random op continues its sequence in
// whichever step it runs. Thread-safe.
class session_kernels {
 public:
  // With a recorder, every kernel is timed.
  explicit session_kernels(std::shared_ptr<cost_recorder> recorder = nullptr) : recorder_(std::move(recorder)) {}

  std::shared_ptr<kernel> find_or_make(const kernel_setup& setup);
  void clear();

 private:
  // One kernel. It is made once, under a lock of its own, since its constructor may do anything that its op requires.
  struct kept_kernel {
    std::mutex making;
    std::shared_ptr<kernel> made;
  };
  std::shared_ptr<kept_kernel> kept(const std::string& name);
  std::shared_ptr<kernel> timed(std::shared_ptr<kernel> k) const;
  const std::shared_ptr<cost_recorder> recorder_;
  std::mutex mutex_;
  std::unordered_map<std::string, std::shared_ptr<kept_kernel>> kept_;
};

}}}  // namespace pinion::v0::runtime

#if PINION_HEADER_ONLY
#include <pinion/runtime/task.ipp>
#endif
