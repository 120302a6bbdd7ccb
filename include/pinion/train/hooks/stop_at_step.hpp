// Stops training at a step.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include <pinion/train/global_step.hpp>
#include <pinion/train/hook.hpp>

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
  void begin() { step_ = get_or_create_global_step(); }
  void after_create_session(session& s, coordinator&) {
    if (!last_step_) last_step_ = std::int64_t(s.run(step_)) + *num_steps_;
  }
  run_request before_run(run_context&) { return {.fetches = {dsl::endpoint_of(step_)}}; }
  // The value may be that before or after the step: near the end it is read again.
  void after_run(run_context& c, std::span<const any_tensor> values) {
    if (*values[0].data<std::int64_t>() + 1 < *last_step_) return;
    if (std::int64_t(c.session().run(step_)) >= *last_step_) c.request_stop();
  }

 private:
  std::optional<std::int64_t> num_steps_, last_step_;
  variable_handle<std::int64_t> step_;
};

}  // namespace pinion::inline v0::train
