// Stops training at a step.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include <pinion/train/hooks/global_step_watch.hpp>
#include <pinion/train/hooks/hook.hpp>

namespace pinion::inline v0::train {

struct stop_at_step_options {
  std::optional<std::int64_t> num_steps = {};  // so many more than when the first session is made
  std::optional<std::int64_t> last_step = {};  // at this value of the global step
};

// Asks for the stop once the global step has reached its end; steps of other workers may overshoot it. Throws
// invalid_argument unless exactly one of the options is given.
class stop_at_step {
 public:
  explicit stop_at_step(const stop_at_step_options& o) : num_steps_(o.num_steps), last_step_(o.last_step) {
    if (num_steps_.has_value() == last_step_.has_value())
      throw error(errc::invalid_argument, "stop_at_step takes num_steps or last_step, one of the two");
  }
  void begin() { step_.begin(); }
  void after_create_session(session& s, coordinator&) {
    if (!last_step_) last_step_ = step_.read(s) + *num_steps_;
  }
  run_request before_run(run_context&) { return step_.request(); }
  void after_run(run_context& c, std::span<const any_tensor> values) {
    if (step_.read_if([this](std::int64_t step) { return step >= *last_step_; }, c, values)) c.request_stop();
  }

 private:
  std::optional<std::int64_t> num_steps_, last_step_;
  global_step_watch step_;
};

}  // namespace pinion::inline v0::train
