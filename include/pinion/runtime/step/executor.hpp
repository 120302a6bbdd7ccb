// Runs one executable once by counting dependencies, over a pool; items may wait.
//
// Invariants
//   1. An item runs when all its predecessors are done. Among ready items the lowest runs first, so that updates, which
//      come last in a graph, find variables that no other item still reads.
//   2. After the first failure no kernel is started, the step's rendezvous wakes waiting items, and the run ends when
//      every item is accounted for.
//   3. `done` is called exactly once, after which the run touches nothing.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/base/inline_run.hpp>
#include <pinion/base/thread_pool.hpp>
#include <pinion/runtime/step/item_runner.hpp>
#include <pinion/runtime/step/ready_items.hpp>

namespace pinion { inline namespace v0 { namespace runtime {

// One run of one executable. Shared by its owner and by the callbacks of its pending items.
class executor final : public std::enable_shared_from_this<executor>, public step_part, item_runner {
 public:
  using finished = std::function<void()>;

  executor(const executable& e, run_memory& memory, task_services& services, step_state& step, thread_pool* inter_op)
      : item_runner(e, memory, services, step), pool_(inter_op) {}

  // Runs items by their dependencies, and returns when no work is left for this thread. `done` may be called in any
  // thread.
  void start(finished done);

  // Only after start().
  void list_under_way(std::vector<std::string>& names, std::size_t most) const override;

 private:
  // Makes ready what start() needs.
  void prepare();

  // Runs the items that are ready, and those that become so. In an inline run it runs some brief ones, and puts the
  // rest by.
  void process(ready_items ready);
  static constexpr int most_inline = 16;

  void push(ready_items& ready, int i) const;
  // Leaves what is ready to another thread. Returns false, and fails the step, where there is no memory for that.
  bool put_by(inline_run& here, const ready_items& ready);
  // Hands the expensive items to the pool, so that they run beside the one that this thread has taken.
  void share_expensive(ready_items& ready);

  void begin(int i, kernel_context& c, ready_items& ready);

  // Ends the event of an item that has waited.
  void end_trace(const executable::item& it, traced_item& time, const kernel_context& c, bool well);

  // Starts an item that ends in another thread, or later. Its context lives until it ends. A kernel that throws after
  // it has ended counts as ended once.
  void wait(int i);

  // Continues after an item that has ended in this thread. An end may cause further ends, also in other executors;
  // beyond a depth of `deepest` they wait until the stack unwinds, so that the stack does not grow with the length of a
  // step.
  void resume(int i);
  static constexpr int deepest = 32;
  void go_on_behind(int i);

  void complete(int i, ready_items& ready);

  // Ends the run. A stream may still be working: the run ends when the stream reaches this point, since only then are
  // its errors known.
  void finish();
  void close();

  thread_pool* pool_;
  std::atomic<int> remaining_{0};
  finished done_;
};

}}}  // namespace pinion::v0::runtime

#if PINION_HEADER_ONLY
#include <pinion/runtime/step/executor.ipp>
#endif
