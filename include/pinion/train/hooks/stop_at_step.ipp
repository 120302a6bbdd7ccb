// Bodies of <pinion/train/hooks/stop_at_step.hpp>.
#pragma once

#include <pinion/train/coordinator.hpp>
#include <pinion/train/hooks/stop_at_step.hpp>

namespace pinion { inline namespace v0 { namespace train {

PINION_HOLD_HOOK(stop_at_step)

PINION_DECL stop_at_step::stop_at_step(const stop_at_step_options& o)
    : num_steps_(o.num_steps), last_step_(o.last_step) {
  if (num_steps_.has_value() == last_step_.has_value())
    throw error(errc::invalid_argument, "stop_at_step takes num_steps or last_step, one of the two");
}

PINION_DECL void stop_at_step::after_create_session(session& s, coordinator& with) {
  if (begun_) return;
  const std::int64_t step = step_.read(s);  // where it cannot be read, the next session is asked
  if (!last_step_) last_step_ = step + *num_steps_;
  if (step >= *last_step_) with.request_stop();
}

PINION_DECL void stop_at_step::after_run(run_context& c, std::span<const any_tensor> values) {
  begun_ = true;
  if (step_.read_if([this](std::int64_t step) { return step >= *last_step_; }, c, values)) c.request_stop();
}

}}}  // namespace pinion::v0::train
