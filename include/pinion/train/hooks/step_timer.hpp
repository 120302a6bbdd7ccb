// When something is due again: after so many steps, or after so much time.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include <pinion/base/config.hpp>

namespace pinion { inline namespace v0 { namespace train {

// Due at first, never twice for one step, and then every so many steps or seconds since it was last. For one thread.
class step_timer {
 public:
  using clock = std::chrono::steady_clock;

  // Of one of the two. Throws invalid_argument where both or none are given; `whose` is for the message.
  step_timer(std::optional<std::int64_t> every_steps, std::optional<double> every_secs, const std::string& whose);

  bool due(std::int64_t step) const;
  struct since {
    double seconds;
    std::int64_t steps;
  };
  // It has happened now. Returns how long after the last time; nothing the first time.
  std::optional<since> done(std::int64_t step);
  std::optional<std::int64_t> last_step() const { return last_step_; }
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
