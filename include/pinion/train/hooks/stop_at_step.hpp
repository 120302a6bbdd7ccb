// The hook that ends training at a step.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include <pinion/base/config.hpp>
#include <pinion/train/hooks/global_step_watch.hpp>
#include <pinion/train/hooks/hook.hpp>

namespace pinion { inline namespace v0 { namespace train {

// The options of stop_at_step. Exactly one of them is given. num_steps is for "so many more than there are now", as
// after a restart; last_step is for the same end in each start.
struct stop_at_step_options {
  // Training ends this many global steps after the step at which its first session is made.
  std::optional<std::int64_t> num_steps = {};
  // Training ends when the global step has this value.
  std::optional<std::int64_t> last_step = {};
};

// Asks for the end of training once the global step has reached its last value: a training that is there when it starts
// makes no step, where TensorFlow 1.15's StopAtStepHook makes one more at each start. Steps of other workers, which are
// under way then, may go beyond it. Only the thread of its session uses it. The constructor throws invalid_argument
// unless exactly one of the options is given.
//
//   tr::stop_at_step({.last_step = 10000})
class stop_at_step {
 public:
  // Throws invalid_argument unless exactly one of the options is given.
  explicit stop_at_step(const stop_at_step_options& o);
  void begin() { step_.begin(); }
  // Finds the last step from the step of the first session, where num_steps is given, and whether it is reached.
  void after_create_session(session& s, coordinator& with);
  run_request before_run(run_context&) { return step_.request(); }
  // Asks for the end at the last step. It reads the step again after a run that may have reached it.
  void after_run(run_context& c, std::span<const any_tensor> values);

 private:
  std::optional<std::int64_t> num_steps_, last_step_;
  bool begun_ = false;  // a step has ended: one that a later session repeats is not stopped
  global_step_watch step_;
};
PINION_HELD_HOOK(stop_at_step)

}}}  // namespace pinion::v0::train

#if PINION_HEADER_ONLY
#include <pinion/train/hooks/stop_at_step.ipp>
#endif
