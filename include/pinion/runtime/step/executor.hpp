// Runs one executable once: its items in order in the calling thread, or by counting dependencies over a pool.
//
// Invariants
//   1. An item runs when all its predecessors are done. Among ready items the lowest runs first, so that updates, which
//      come last in a graph, find variables that no other item still reads.
//   2. After the first failure no kernel is started, the step's rendezvous wakes waiting items, and the run ends when
//      every item is accounted for.
//   3. `done` is called exactly once, after which the run touches nothing.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <pinion/base/cancellation.hpp>
#include <pinion/base/config.hpp>
#include <pinion/base/inline_run.hpp>
#include <pinion/base/outcome.hpp>
#include <pinion/base/thread_pool.hpp>
#include <pinion/runtime/step/bound_sequence.hpp>
#include <pinion/runtime/step/executable.hpp>
#include <pinion/runtime/step/planned_memory.hpp>
#include <pinion/runtime/step/ready_items.hpp>
#include <pinion/runtime/step/step_state.hpp>
#include <pinion/runtime/step/step_tracer.hpp>
#include <pinion/runtime/step/value_lives.hpp>

namespace pinion { inline namespace v0 { namespace runtime {

struct lane_memory;

// The mutable part of a run. The compiled step keeps it and uses it again.
struct run_memory {
  std::vector<any_tensor> slots;
  std::vector<any_tensor> inputs;  // of the item that runs, where items run in order
  planned_memory values;           // of a device without a stream

  // These are for items that do not run in order, and made by the first run that needs them.
  std::vector<any_tensor> arguments;  // the inputs of all items
  // The predecessors of each item that are left, or below 0 once it has ended; and the readers of each slot.
  std::vector<std::atomic<int>> pending, readers;
  std::vector<std::vector<std::unique_ptr<bound_sequence>>> bound;  // by first item, where items run in order
  bool only_bound = false;                                          // every node of the last run in order was bound
  std::vector<ready_items::link> links;                             // of items that are ready

  // The rest is for a step that may run in lanes.
  unsigned runs = 0;
  unsigned version = 0;                // of the plan that `lanes` follows
  std::shared_ptr<lane_memory> lanes;  // null: in order
  std::vector<double> seconds;         // of the items of the last run that was measured

  explicit run_memory(const executable& e) : slots(static_cast<std::size_t>(e.slots)), values(*e.arenas, e.fed) {}
};

// One run of one executable. Shared by its owner and by the callbacks of its pending items. Refers to the executable,
// the memory, the services and the state, which outlive the run.
class executor : public std::enable_shared_from_this<executor>, public step_part {
 public:
  using finished = std::function<void()>;

  executor(const executable& e, run_memory& memory, task_services& services, step_state& step, thread_pool* inter_op)
      : e_(e), m_(memory), services_(services), step_(step), pool_(inter_op) {
    if (step.tracer) lives_ = std::make_unique<value_lives>(e, *step.tracer);
  }

  // Runs all items in order, in this thread. Requires: no item waits. Items of small values that follow each other run
  // bound, unless the step is traced.
  void run_in_order();

  // Runs items by their dependencies, and returns when no work is left for this thread. `done` may be called in any
  // thread.
  void start(finished done);

  // Only after start().
  void list_under_way(std::vector<std::string>& names, std::size_t most) const override;

 protected:
  // Makes the memory ready for a run whose items take_inputs(), except for `pending`.
  void prepare_memory();
  // Makes the rest ready that start() needs.
  void prepare();

  // Runs an item where items run in order.
  void run_alone(const executable::item& it, kernel_context& c);

  // Moves the inputs of an item to their places among the arguments of the run.
  std::span<any_tensor> take_inputs(const executable::item& it);
  static void drop(std::span<any_tensor> inputs);

  // The context of every item of this run, and its parts that belong to one item.
  kernel_context context();
  void point(kernel_context& c, const executable::item& it, std::span<any_tensor> inputs);

  void run_item(const executable::item& it, kernel_context& c, std::span<any_tensor> inputs);

  void clear();
  // Tells the tracer, if there is one, what memory the values of the run had. Call it where the run has ended.
  void tell_lives();

  const executable& e_;
  run_memory& m_;
  task_services& services_;
  step_state& step_;

 private:
  // Runs the items from `first` on that can be bound. Returns the item behind them.
  int run_bound(int first);
  static constexpr std::size_t most_bound = 4;  // sequences with one first item, each for other types
  bound_sequence* bound_from(int first);

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

  // ---- traced

  void run_traced(const executable::item& it, kernel_context& c);
  // Ends the event of an item that has waited.
  void end_trace(const executable::item& it, traced_item& time, const kernel_context& c, bool well);
  // An item without an event has run: one end of a feed or fetch.
  void note_life(const executable::item& it);
  traced_item begin_trace(const executable::item& it, std::span<const any_tensor> inputs) const;

  void blame(const executable::item& it, error e);

  // Starts an item that ends in another thread, or later. Its context lives until it ends. A kernel that throws after
  // it has ended counts as ended once.
  void wait(int i);

  // Drops outputs that no item reads, so that they do not live until the end of the step.
  void drop_unwanted(const executable::item& it);

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
  std::unique_ptr<value_lives> lives_;  // null: the step is not traced
  std::atomic<int> remaining_{0};
  finished done_;
};

}}}  // namespace pinion::v0::runtime

#if PINION_HEADER_ONLY
#include <pinion/runtime/step/executor.ipp>
#endif
