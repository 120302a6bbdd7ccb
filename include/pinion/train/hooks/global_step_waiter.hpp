// Lets a worker begin later than others.
#pragma once

#include <cstdint>

#include <pinion/base/config.hpp>
#include <pinion/train/hooks/global_step_watch.hpp>
#include <pinion/train/hooks/hook.hpp>

namespace pinion { inline namespace v0 { namespace train {

// The first step waits until the global step has reached a value, looked at twice a second; a stop ends the wait.
class global_step_waiter {
 public:
  explicit global_step_waiter(std::int64_t until) : until_(until) {}
  void begin() { step_.begin(); }
  void after_create_session(session&, coordinator& c) { coordinator_ = &c; }
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
