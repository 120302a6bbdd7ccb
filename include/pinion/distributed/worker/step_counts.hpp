// Counts the steps that end, and how many of them do so in a second.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include <pinion/base/config.hpp>
#include <pinion/base/countdown.hpp>
#include <pinion/distributed/report/task_report.hpp>

namespace pinion { inline namespace v0 { namespace distributed {

// The counts of a task or a session. Thread-safe, without locks.
class step_counts {
 public:
  explicit step_counts(time_point now) : began_(now), last_(now.time_since_epoch().count()) {}

  void ended(bool well, time_point now);
  time_point began() const { return began_; }
  // The time when a step last ended; that of the beginning, if none has.
  time_point last() const { return time_point(time_point::duration(last_.load(std::memory_order_relaxed))); }
  // All but `running`.
  step_report report(time_point now) const;

 private:
  static constexpr std::uint32_t window = 5;  // seconds

  // Seconds since the beginning.
  std::uint32_t second_of(time_point t) const;

  const time_point began_;
  std::atomic<time_point::rep> last_;
  std::atomic<std::uint64_t> ended_{0}, failed_{0};
  // The steps of one second each, by its number modulo their count: the number in the upper half, the steps in the
  // lower.
  std::array<std::atomic<std::uint64_t>, 8> seconds_{};
};

}}}  // namespace pinion::v0::distributed

#if PINION_HEADER_ONLY
#include <pinion/distributed/worker/step_counts.ipp>
#endif
