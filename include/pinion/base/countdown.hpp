// Waits until a number of events have happened.
#pragma once

#include <atomic>
#include <chrono>
#include <optional>

#include <pinion/base/config.hpp>

namespace pinion { inline namespace v0 {

using time_point = std::chrono::steady_clock::time_point;

// A limit of time, of a century at most: a program may say milliseconds::max() for "never", and a time so much later is
// beyond what a time_point holds.
constexpr std::chrono::milliseconds bounded(std::chrono::milliseconds limit) {
  constexpr std::chrono::milliseconds century = std::chrono::hours(24 * 36525);
  return limit < century ? limit : century;
}

// A counter that goes down to zero once. Thread-safe; the waiter may destroy it as soon as wait() returns, though the
// thread that counted the last event may still be in count_down(). A wait spins for a short time and then sleeps: steps
// and replies are short, and a sleeping thread takes tens of microseconds to wake up.
class countdown {
 public:
  explicit countdown(int n = 1) : word_(n * one) {}
  countdown(const countdown&) = delete;

  // Counts one event.
  void count_down() {
    const int before = word_.fetch_sub(one, std::memory_order_acq_rel);
    if (before == (one | asleep)) wake(&word_);
  }
  // True once the counter is zero.
  bool done() const { return is_zero(word_.load(std::memory_order_acquire)); }

  // The time for which a wait spins that is short most of the time.
  static constexpr std::chrono::nanoseconds brief = std::chrono::microseconds(30);
  // Waits for zero. Returns false if the deadline came first; without a deadline it waits without a limit. `spins` is
  // the time before it sleeps.
  bool wait(const std::optional<time_point>& deadline = {}, std::chrono::nanoseconds spins = brief);

 private:
  // The word of which the system is asked to wake who waits for it: the count, and whether somebody sleeps. One word
  // holds both, since the counter may be gone once it is zero. A lock would be in the way of the woken: it is held
  // while they are woken.
  using word = std::atomic<int>;
  static constexpr int one = 2, asleep = 1;
  static bool is_zero(int value) { return value < one; }

  // The word may be gone: only its address is used.
  static void wake(const word* where);
  // Sleeps while the word has this value, or until the deadline. Returns false where that has come.
  static bool sleep(const word& where, int value, const std::optional<time_point>& deadline);

  word word_;
};

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/base/countdown.ipp>
#endif
