// Bodies of <pinion/runtime/step/lane_choice.hpp>.
#pragma once

#include <algorithm>
#include <numeric>

#include <pinion/runtime/step/in_order_run.hpp>
#include <pinion/runtime/step/lane_choice.hpp>
#include <pinion/runtime/step/lane_run.hpp>

namespace pinion { inline namespace v0 { namespace runtime {

PINION_DECL void lane_choice::run(run_memory& memory, task_services& services, step_state& step) {
  ++memory.runs;
  if (is_to_be_measured(memory) && !measuring_.exchange(true, std::memory_order_acquire)) {
    measure(memory, services, step);
    return measuring_.store(false, std::memory_order_release);
  }
  update(memory);
  if (memory.lanes)
    lane_run(e_, memory, *memory.lanes, services, step, pool_, helpers_).run();
  else
    in_order_run(e_, memory, services, step).run();
}

PINION_DECL bool lane_choice::is_to_be_measured(const run_memory& memory) const {
  constexpr int at_first = 3;  // the first run also fetches libraries and memory
  return measured_.load(std::memory_order_relaxed) < at_first || memory.runs % 256 == 0;
}

PINION_DECL void lane_choice::measure(run_memory& memory, task_services& services, step_state& step) {
  if (memory.seconds.empty()) memory.seconds.resize(e_.items.size());
  in_order_run(e_, memory, services, step).measure(memory.seconds);
  if (!step.failed() && !step.tracer) learn(memory.seconds);
}

// A time that goes down is taken at once; one that goes up may be that of a thread which had to wait for its processor,
// and counts for at most twice the time before.
PINION_DECL void lane_choice::learn(const std::vector<double>& seconds) {
  const bool first = measured_.load(std::memory_order_relaxed) == 0;
  for (std::size_t i = 0; i < seconds.size(); ++i)
    seconds_[i] = first ? seconds[i] : std::min(seconds[i], 2 * seconds_[i]);
  measured_.fetch_add(1, std::memory_order_relaxed);
  const auto plan = better_plan();
  std::lock_guard hold(mutex_);
  if (!plan == !plan_) return;
  plan_ = plan;
  version_.fetch_add(1, std::memory_order_release);
}

PINION_DECL std::shared_ptr<const lane_plan> lane_choice::better_plan() const {
  constexpr double least = 5e-6;  // an item as long as this is worth another thread
  if (std::count_if(seconds_.begin(), seconds_.end(), [](double s) { return s > least; }) < 2) return nullptr;
  auto plan = std::make_shared<const lane_plan>(e_, seconds_);
  const double alone = std::accumulate(seconds_.begin(), seconds_.end(), 0.0);
  const double together = plan->time_on(helpers_ + 1);
  return together < .9 * alone ? plan : nullptr;
}

PINION_DECL void lane_choice::update(run_memory& memory) {
  if (memory.version == version_.load(std::memory_order_acquire)) return;
  std::lock_guard hold(mutex_);
  memory.version = version_.load(std::memory_order_relaxed);
  memory.lanes = plan_ ? std::make_shared<lane_memory>(plan_) : nullptr;
}

}}}  // namespace pinion::v0::runtime
