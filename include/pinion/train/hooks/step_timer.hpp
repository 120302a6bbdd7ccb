// When something is due again: after so many steps, or after so much time.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include <pinion/base/error.hpp>

namespace pinion::inline v0::train {

// Due at first, never twice for one step, and then every so many steps or seconds since it was last. For one thread.
class step_timer {
 public:
  using clock = std::chrono::steady_clock;

  // Of one of the two. Throws invalid_argument where both or none are given; `whose` is for the message.
  step_timer(std::optional<std::int64_t> every_steps, std::optional<double> every_secs, const std::string& whose)
      : steps_(every_steps), secs_(every_secs) {
    if (steps_.has_value() == secs_.has_value())
      throw error(errc::invalid_argument, whose + (steps_ ? " was given both a number of steps and of seconds"
                                                          : " was given neither a number of steps nor of seconds"));
    if ((steps_ && *steps_ < 1) || (secs_ && *secs_ < 0))
      throw error(errc::invalid_argument, whose + " happens every step at most");
  }

  bool due(std::int64_t step) const {
    if (!last_step_) return true;
    if (step == *last_step_) return false;
    if (steps_) return step >= *last_step_ + *steps_;
    return std::chrono::duration<double>(clock::now() - last_time_).count() >= *secs_;
  }
  struct since {
    double seconds;
    std::int64_t steps;
  };
  // It has happened now. Returns how long after the last time; nothing the first time.
  std::optional<since> done(std::int64_t step) {
    const auto now = clock::now();
    std::optional<since> passed;
    if (last_step_) passed = since{std::chrono::duration<double>(now - last_time_).count(), step - *last_step_};
    last_time_ = now;
    last_step_ = step;
    return passed;
  }
  std::optional<std::int64_t> last_step() const { return last_step_; }
  void reset() { last_step_.reset(); }

 private:
  std::optional<std::int64_t> steps_;
  std::optional<double> secs_;
  std::optional<std::int64_t> last_step_;
  clock::time_point last_time_{};
};

}  // namespace pinion::inline v0::train
