// Runs the items of one executable, each of them when it is told to.
#pragma once

#include <atomic>
#include <memory>
#include <span>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/base/error.hpp>
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

// The part that all runs of an executable share, whichever order they run its items in: in_order_run, lane_run, and
// executor, which waits for items. Refers to the executable, the memory, the services and the state, which outlive the
// run.
class item_runner {
 protected:
  item_runner(const executable& e, run_memory& memory, task_services& services, step_state& step)
      : e_(e), m_(memory), services_(services), step_(step) {
    if (step.tracer) lives_ = std::make_unique<value_lives>(e, *step.tracer);
  }
  ~item_runner() = default;

  // Makes the memory ready for a run whose items take_inputs(), except for `pending`.
  void prepare_memory();
  // Moves the inputs of an item to their places among the arguments of the run.
  std::span<any_tensor> take_inputs(const executable::item& it);
  static void drop(std::span<any_tensor> inputs);

  // The context of every item of this run, and its parts that belong to one item.
  kernel_context context();
  void point(kernel_context& c, const executable::item& it, std::span<any_tensor> inputs);

  // Runs an item that ends in this thread. Its error fails the step.
  void run_item(const executable::item& it, kernel_context& c, std::span<any_tensor> inputs);
  void blame(const executable::item& it, error e);
  // Drops outputs that no item reads, so that they do not live until the end of the step.
  void drop_unwanted(const executable::item& it);

  void clear();

  // ---- traced

  traced_item begin_trace(const executable::item& it, std::span<const any_tensor> inputs) const;
  // Tells the tracer, if there is one, what memory the values of the run had. Call it where the run has ended.
  void tell_lives();

  const executable& e_;
  run_memory& m_;
  task_services& services_;
  step_state& step_;
  std::unique_ptr<value_lives> lives_;  // null: the step is not traced

 private:
  void run_traced(const executable::item& it, kernel_context& c);
  // An item without an event has run: one end of a feed or fetch.
  void note_life(const executable::item& it);
};

}}}  // namespace pinion::v0::runtime

#if PINION_HEADER_ONLY
#include <pinion/runtime/step/item_runner.ipp>
#endif
