// A timer that tells whether something is due again, after a number of steps or an amount of time.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include <pinion/base/config.hpp>

namespace pinion { inline namespace v0 { namespace train {

// Due at once the first time, then never twice for one step, and again after so many steps or seconds since the last
// time. A value for one thread. For hooks of one's own:
//
//   tr::step_timer every(100, std::nullopt, "my_hook");                // or (std::nullopt, 60., ...)
//   if (every.due(step)) { save(); every.done(step); }
class step_timer {
 public:
  using clock = std::chrono::steady_clock;

  // Takes a number of steps or of seconds. Throws invalid_argument if both or neither are given, or if steps are below
  // 1 or seconds below 0; `whose` names the caller in the message.
  step_timer(std::optional<std::int64_t> every_steps, std::optional<double> every_secs, const std::string& whose);

  // True if it is due at a step.
  bool due(std::int64_t step) const;
  // The distance between two times that something was done.
  struct since {
    double seconds;
    std::int64_t steps;
  };
  // Notes that it was done now, at a step. Returns the distance to the last time; nothing the first time.
  std::optional<since> done(std::int64_t step);
  // The step of the last time; empty before the first.
  std::optional<std::int64_t> last_step() const { return last_step_; }
  // Makes it due at once again.
  void reset() { last_step_.reset(); }

 private:
  std::optional<std::int64_t> steps_;
  std::optional<double> secs_;
  std::optional<std::int64_t> last_step_;
  clock::time_point last_time_{};
};

}}}  // namespace pinion::v0::train

#if PINION_HEADER_ONLY
#include <pinion/train/hooks/step_timer.ipp>
#endif
