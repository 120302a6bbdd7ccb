// The hook that lets a worker begin later than others.
//
//   tr::global_step_waiter(1000 * task)         // each worker begins a thousand steps after the one before it
#pragma once

#include <cstdint>

#include <pinion/base/config.hpp>
#include <pinion/train/hooks/global_step_watch.hpp>
#include <pinion/train/hooks/hook.hpp>

namespace pinion { inline namespace v0 { namespace train {

// Holds the first step back until the global step has reached a value; it looks up to twice a second, more often at
// first. A stop of the coordinator ends the wait. Only the thread of its session uses it. It follows TensorFlow 1.15's
// GlobalStepWaiterHook.
class global_step_waiter {
 public:
  // `until` is the value of the global step that the first step waits for. With a value that the step has reached
  // already, it does not wait at all.
  explicit global_step_waiter(std::int64_t until) : until_(until) {}
  void begin() { step_.begin(); }
  void after_create_session(session&, coordinator& c) { coordinator_ = &c; }
  // Waits, before the first step only.
  void before_run(run_context& c);

 private:
  std::int64_t until_;
  bool reached_ = false;
  global_step_watch step_;
  coordinator* coordinator_ = nullptr;
};
PINION_HELD_HOOK(global_step_waiter)

}}}  // namespace pinion::v0::train

#if PINION_HEADER_ONLY
#include <pinion/train/hooks/global_step_waiter.ipp>
#endif
