// How long a thread looks for an event before it sleeps.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>

#include <pinion/base/config.hpp>

namespace pinion { inline namespace v0 {

// The time for which events of one kind are looked for: a thread that sleeps is woken tens of microseconds late, so it
// is twice as long as waits take lately, but `least` where they take longer than a millisecond, of which that is
// little. Thread-safe; of two waits that end at once, one may not count.
class look_time {
 public:
  static constexpr std::chrono::nanoseconds least = std::chrono::microseconds(50), most = std::chrono::milliseconds(2);

  std::chrono::nanoseconds next() const {
    const std::chrono::nanoseconds twice(2 * lately_.load(std::memory_order_relaxed));
    return twice > most ? least : std::max(twice, least);
  }
  // Tells how long a wait took.
  void took(std::chrono::nanoseconds one) {
    lately_.store((3 * lately_.load(std::memory_order_relaxed) + one.count()) / 4, std::memory_order_relaxed);
  }

 private:
  std::atomic<std::int64_t> lately_{0};  // nanoseconds
};

}}  // namespace pinion::v0
