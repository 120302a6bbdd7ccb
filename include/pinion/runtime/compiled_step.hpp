// The partitions of a step that run in one task, ready to run as often as wanted.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/runtime/step/executor.hpp>
#include <pinion/runtime/task.hpp>

namespace pinion { inline namespace v0 { namespace runtime {

// Immutable but for the memory that its runs use again; any number of runs may be under way at once. Refers to its task
// and graph, which outlive it; kernels are kept by the session.
class compiled_step {
 public:
  // The device of a partition is an index into the task's. `bodies` makes nodes with bodies ready.
  compiled_step(std::vector<partition> parts, const graph& g, runtime::task& on, session_kernels& kernels,
                const std::shared_ptr<body_compiler>& bodies);

  // Returns when it has ended, at the state's deadline at the latest if what runs then can be cancelled.
  void run(step_state& state);

  // Does run() do all of it in the calling thread, without waiting for anybody?
  bool runs_in_order() const { return parts_.empty() || (!waits_ && !worth_sharing(*parts_[0])); }

  // Begins in this thread; `done` is called once, in any thread, when every partition has ended. Whoever calls keeps
  // the state and this alive until then.
  void start(step_state& state, std::function<void()> done);

 private:
  using step_memory = std::vector<std::unique_ptr<run_memory>>;

  bool worth_sharing(const executable& e) const;

  std::unique_ptr<step_memory> acquire();
  void release(std::unique_ptr<step_memory> m);

  runtime::task& task_;
  std::vector<std::unique_ptr<executable>> parts_;
  bool waits_ = false;  // for another partition or a stream: then it cannot run in one go
  std::mutex mutex_;
  std::vector<std::unique_ptr<step_memory>> idle_;
};

}}}  // namespace pinion::v0::runtime

#if PINION_HEADER_ONLY
#include <pinion/runtime/compiled_step.ipp>
#endif
