// The partitions of a step that run in one task, compiled once and run any number of times.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/base/countdown.hpp>
#include <pinion/base/look_time.hpp>
#include <pinion/base/process.hpp>
#include <pinion/runtime/step/executor.hpp>
#include <pinion/runtime/step/lane_choice.hpp>
#include <pinion/runtime/task.hpp>

namespace pinion { inline namespace v0 { namespace runtime {

// A compiled step. Immutable except for the memory that runs reuse; any number of runs may be under way at once. Refers
// to its task and graph, which outlive it; the session keeps the kernels of stateful ops.
//
// Sessions and servers make one for each set of feeds, fetches and targets, and keep it: see session::make_callable.
class compiled_step {
 public:
  // The device of each partition is an index into the task's devices. `bodies` compiles nodes with bodies.
  compiled_step(std::vector<partition> parts, graph_view g, runtime::task& on, session_kernels& kernels,
                const std::shared_ptr<body_compiler>& bodies);
  compiled_step(const compiled_step&) = delete;
  ~compiled_step() { delete spare_.load(); }

  // Runs the step and returns when it has ended, at the latest at state.deadline if the running kernels can be
  // cancelled.
  // Errors are left in the state; the first one counts.
  void run(step_state& state);

  // Can run() do everything in the calling thread, without waiting for others?
  // Other threads may help it, see lane_choice.
  bool runs_in_order() const { return !waits_; }

  // Does it take no longer than handing it to another thread, beside the time for which it waits for values?
  bool is_light() const { return parts_.empty() || (parts_.size() == 1 && parts_[0]->light); }

  // Do its items take the values that they wait for in some microseconds, all on the host?
  bool takes_briefly() const;

  // Binds the step to lasting cells of its feeds. Returns null where not all of it can be bound.
  std::unique_ptr<bound_body> bind(std::span<const cell> feeds) const;

  // Starts the step in this thread. `done` is called once, in any thread, when every partition has ended; until then
  // the caller keeps the state and this object alive.
  void start(step_state& state, std::function<void()> done);

  const std::vector<std::unique_ptr<executable>>& parts() const { return parts_; }

 private:
  using step_memory = std::vector<std::unique_ptr<run_memory>>;

  // Looks at the fed values of a step that checks values. Returns false where one has failed it.
  bool bears_feeds(step_state& state) const;
  // Runs a step that does not wait.
  void run_here(step_state& state);
  // Waits for the end of a run; returns false at the deadline. Of a session's step that takes long it tells in the log
  // for how long it has run and in which nodes, in the intervals of all waits.
  bool await(countdown& ended, const step_state& state, const std::optional<time_point>& deadline);
  static void say_where(const step_state& state, std::chrono::nanoseconds ran);

  // The memory of a run. One memory is spare most of the time, so that runs that do not overlap take no lock.
  std::unique_ptr<step_memory> acquire();
  void release(std::unique_ptr<step_memory> m);

  // Has the code of GPUs made that all parts announced, together.
  void make_announced_code();

  runtime::task& task_;
  const process_mark made_in_;  // has the threads of the task
  std::vector<std::unique_ptr<executable>> parts_;
  bool waits_ = false;                  // waits for another partition or a stream, so it cannot run in one go
  bool checks_values_ = false;          // looks for NaN in what it is fed
  bool uses_gpus_ = false;              // whose work leaves this thread's processor alone while it is looked for
  look_time looks_;                     // for the end of a run, where GPUs are used
  std::unique_ptr<lane_choice> lanes_;  // null: always in order
  std::atomic<step_memory*> spare_{nullptr};
  std::mutex mutex_;
  std::vector<std::unique_ptr<step_memory>> idle_;
};

}}}  // namespace pinion::v0::runtime

#if PINION_HEADER_ONLY
#include <pinion/runtime/compiled_step.ipp>
#endif
