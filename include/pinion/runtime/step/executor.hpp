// Runs one executable once: items in order in the calling thread, or by counting dependencies over a pool.
//
// Invariants
//   1. An item runs when all its predecessors are done; of the ready ones the lowest runs first, so that updates, which
//      come last in a graph, find variables that nobody reads any more.
//   2. After the first failure no kernel is started; what waits is woken by the step's rendezvous; the run ends when
//      every item is accounted for.
//   3. `done` is called exactly once, after which the run touches nothing.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <queue>
#include <span>
#include <vector>

#include <pinion/base/cancellation.hpp>
#include <pinion/base/config.hpp>
#include <pinion/base/thread_pool.hpp>
#include <pinion/runtime/step/executable.hpp>
#include <pinion/runtime/step/step_tracer.hpp>

namespace pinion { inline namespace v0 { namespace runtime {

// What the runs of one step share. The first failure wins and stops the others.
class step_state final : public step_watch {
 public:
  explicit step_state(pinion::rendezvous& meet, std::int64_t number) : rendezvous(&meet), step(number) {}

  pinion::rendezvous* rendezvous;
  pinion::cancellation cancellation;
  std::int64_t step;
  std::vector<any_tensor> feeds, fetches;
  step_tracer* tracer = nullptr;  // of a run that is written down

  // The time by which it must have ended, if there is one.
  std::optional<std::chrono::steady_clock::time_point> deadline;
  void check_deadline();
  std::optional<std::chrono::steady_clock::time_point> time_limit() const override { return deadline; }
  static error too_late();

  bool failed() const override { return failed_.load(std::memory_order_acquire); }
  void fail(const error& why) override;
  std::optional<error> failure() const;

 private:
  mutable std::mutex mutex_;
  std::atomic<bool> failed_{false};
  std::optional<error> failure_;
};

// The mutable half of a run; kept and used again by the step it belongs to.
struct run_memory {
  std::vector<any_tensor> slots;
  std::vector<std::atomic<int>> pending, readers;
  explicit run_memory(const executable& e)
      : slots(static_cast<std::size_t>(e.slots)), pending(e.items.size()), readers(static_cast<std::size_t>(e.slots)) {}
};

class executor : public std::enable_shared_from_this<executor> {
 public:
  using finished = std::function<void()>;

  executor(const executable& e, run_memory& memory, task_services& services, step_state& step, thread_pool* inter_op)
      : e_(e), m_(memory), services_(services), step_(step), pool_(inter_op) {}

  // In order, in this thread. Requires: nothing in it waits.
  void run_in_order();

  // By dependencies; returns when there is nothing left to do in this thread. `done` may be called in any thread.
  void start(finished done);

 private:
  using ready_items = std::priority_queue<int, std::vector<int>, std::greater<int>>;

  void process(ready_items ready);

  // Hands all but the first expensive items to the pool, so that they run beside this thread.
  void share_expensive(ready_items& ready);

  void begin(int i, ready_items* ready);

  std::vector<any_tensor> take_inputs(const executable::item& it);

  kernel_context context(const executable::item& it, std::vector<any_tensor>& inputs);

  void run_item(const executable::item& it, std::vector<any_tensor>& inputs);

  // ---- written down

  void run_traced(const executable::item& it, kernel_context& c);
  traced_item begin_trace(const executable::item& it, std::span<const any_tensor> inputs) const;
  static std::int64_t bytes_of(std::span<const any_tensor> values);

  void blame(const executable::item& it, error e);

  // Items that end in another thread, or later. Their context lives until they do. A kernel that throws after it has
  // ended has ended once.
  void wait(int i);

  // Outputs that nobody reads need not live until the end of the step.
  void drop_unwanted(const executable::item& it);

  // Goes on behind an item that has ended in this thread. Ends bring about others, in other executors too: beyond some
  // depth they wait for the stack to unwind, so that it does not grow with the length of a step.
  void resume(int i);
  static constexpr int deepest = 32;
  void go_on_behind(int i);

  void complete(int i, ready_items* ready);

  // A stream may still be working: the run ends when it has reached this point, and only then are errors known.
  void finish();
  void close();
  void clear();

  const executable& e_;
  run_memory& m_;
  task_services& services_;
  step_state& step_;
  thread_pool* pool_;
  std::vector<any_tensor> inputs_;
  std::atomic<int> remaining_{0};
  finished done_;
};

}}}  // namespace pinion::v0::runtime

#if PINION_HEADER_ONLY
#include <pinion/runtime/step/executor.ipp>
#endif
