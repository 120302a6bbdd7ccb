// Runs one executable once, its items in order in the calling thread.
#pragma once

#include <cstddef>
#include <span>

#include <pinion/base/config.hpp>
#include <pinion/runtime/step/item_runner.hpp>

namespace pinion { inline namespace v0 { namespace runtime {

// One run, on the stack of its caller. Requires: no item waits.
class in_order_run final : item_runner {
 public:
  in_order_run(const executable& e, run_memory& memory, task_services& services, step_state& step)
      : item_runner(e, memory, services, step) {}

  // Runs all items. Those of small values that follow each other run bound, unless the step is traced or measured.
  void run() { run({}); }
  // Measures the seconds of each item, too.
  void measure(std::span<double> seconds) { run(seconds); }

 private:
  void run(std::span<double> seconds);
  void run_alone(const executable::item& it, kernel_context& c);

  // Runs the items from `first` on that can be bound. Returns the item behind them.
  std::size_t run_bound(std::size_t first);
  static constexpr std::size_t most_bound = 4;  // sequences with one first item, each for other types
  bound_sequence* bound_from(std::size_t first);
};

}}}  // namespace pinion::v0::runtime

#if PINION_HEADER_ONLY
#include <pinion/runtime/step/in_order_run.ipp>
#endif
