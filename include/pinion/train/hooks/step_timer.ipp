// Bodies of <pinion/train/hooks/step_timer.hpp>.
#pragma once

#include <pinion/base/error.hpp>
#include <pinion/train/hooks/step_timer.hpp>

namespace pinion { inline namespace v0 { namespace train {

PINION_DECL step_timer::step_timer(std::optional<std::int64_t> every_steps, std::optional<double> every_secs,
                                   const std::string& whose)
    : steps_(every_steps), secs_(every_secs) {
  if (steps_.has_value() == secs_.has_value())
    throw error(errc::invalid_argument, whose + (steps_ ? " was given both a number of steps and of seconds"
                                                        : " was given neither a number of steps nor of seconds"));
  if ((steps_ && *steps_ < 1) || (secs_ && *secs_ < 0))
    throw error(errc::invalid_argument, whose + " happens every step at most");
}

PINION_DECL bool step_timer::due(std::int64_t step) const {
  if (!last_step_) return true;
  if (step == *last_step_) return false;
  if (steps_) return step >= *last_step_ + *steps_;
  return std::chrono::duration<double>(clock::now() - last_time_).count() >= *secs_;
}

PINION_DECL std::optional<step_timer::since> step_timer::done(std::int64_t step) {
  const auto now = clock::now();
  std::optional<since> passed;
  if (last_step_) passed = since{std::chrono::duration<double>(now - last_time_).count(), step - *last_step_};
  last_time_ = now;
  last_step_ = step;
  return passed;
}

}}}  // namespace pinion::v0::train
