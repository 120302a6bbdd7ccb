// A wait that tries again and again for a limited time, and reports every ten seconds.
#pragma once

#include <algorithm>
#include <chrono>
#include <functional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include <pinion/base/countdown.hpp>

namespace pinion { inline namespace v0 { namespace train {

// One wait, which begins when it is constructed. A value, for one thread.
class backoff {
 public:
  using clock = std::chrono::steady_clock;

  // `say` receives the reports; `sleep` makes the pauses and may throw, to end the wait; `now` tells the time.
  backoff(
      std::chrono::milliseconds at_most, std::function<void(const std::string&)> say,
      std::function<void(std::chrono::milliseconds)> sleep,
      std::function<clock::time_point()> now = [] { return clock::now(); })
      : at_most_(at_most), say_(std::move(say)), sleep_(std::move(sleep)), now_(std::move(now)) {}

  // The time waited so far.
  std::chrono::seconds waited() const { return std::chrono::duration_cast<std::chrono::seconds>(now_() - began_); }
  // True if the next pause would exceed the limit.
  bool is_over() const { return now_() - began_ + pause_ > bounded(at_most_); }
  // The time that one attempt may take. It grows with each attempt, so that a slow machine succeeds as well.
  std::chrono::milliseconds for_an_attempt() const { return std::clamp(10 * pause_, 1000 * ms, 10000 * ms); }
  // Notes that something else is waited for from now on, which may not take long: the attempts come quickly again.
  void begin_anew() { pause_ = first_pause; }
  // Sleeps until the next attempt: a twentieth of a second at first, a second in the end. `what` names in a report what
  // is waited for.
  void pause(const std::string& what) {
    if (now_() > next_word_) {
      say_(fmt::format("has waited {} s, of {:g} s at most, for {}", waited().count(),
                       std::chrono::duration<double>(at_most_).count(), what));
      next_word_ = now_() + std::chrono::seconds(10);
    }
    sleep_(pause_);
    pause_ = std::min(2 * pause_, 1000 * ms);
  }

 private:
  static constexpr std::chrono::milliseconds ms{1}, first_pause{50};

  std::chrono::milliseconds at_most_;
  std::function<void(const std::string&)> say_;
  std::function<void(std::chrono::milliseconds)> sleep_;
  std::function<clock::time_point()> now_;
  clock::time_point began_ = now_(), next_word_ = began_ + std::chrono::seconds(1);
  std::chrono::milliseconds pause_ = first_pause;
};

}}}  // namespace pinion::v0::train
