// Decides how the runs of a partition use the threads of their task: one, in order, or several by a plan.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/base/thread_pool.hpp>
#include <pinion/runtime/step/executor.hpp>
#include <pinion/runtime/step/lane_plan.hpp>

namespace pinion { inline namespace v0 { namespace runtime {

// The choice for one partition, made by measuring the items of its first runs, and again once in a while, since shapes
// may change from run to run. A run between them allocates nothing and takes no lock. Thread-safe. Refers to the
// partition and the pool, which outlive it. Requires: no item waits.
class lane_choice {
 public:
  // At most `helpers` threads of the pool join the caller.
  lane_choice(const executable& e, thread_pool& pool, int helpers)
      : e_(e), pool_(pool), helpers_(helpers), seconds_(e.items.size()) {}

  // Runs the partition once, and returns when it has ended.
  void run(run_memory& memory, task_services& services, step_state& step);

 private:
  bool is_to_be_measured(const run_memory& memory) const;
  void measure(run_memory& memory, task_services& services, step_state& step);
  void learn(const std::vector<double>& seconds);
  // The plan by which more threads are worth it; null: in order.
  std::shared_ptr<const lane_plan> better_plan() const;
  // Lets a memory follow the plan of now.
  void update(run_memory& memory);

  const executable& e_;
  thread_pool& pool_;
  const int helpers_;
  std::atomic<bool> measuring_{false};
  std::atomic<int> measured_{0};  // changed by the run that measures, as is seconds_
  std::vector<double> seconds_;   // per item
  std::mutex mutex_;
  std::shared_ptr<const lane_plan> plan_;  // under the lock
  std::atomic<unsigned> version_{0};       // of the plan
};

}}}  // namespace pinion::v0::runtime

#if PINION_HEADER_ONLY
#include <pinion/runtime/step/lane_choice.ipp>
#endif
