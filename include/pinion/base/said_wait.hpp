// Lines in the log of waits without a deadline, where the thing waited for uses memory that is freed after the wait,
// and of work that nothing bounds.
#pragma once

#include <atomic>
#include <chrono>
#include <string>

#include <pinion/base/log.hpp>
#include <pinion/base/process.hpp>

namespace pinion { inline namespace v0 { namespace detail {

// The waits of a process.
struct said_waits {
  std::atomic<std::chrono::milliseconds> interval{std::chrono::seconds(10)};  // between two lines
};

// How long a wait is silent, and then between two lines.
inline std::chrono::milliseconds silence_of_waits() {
  return of_this_process<said_waits>().interval.load();
}

// Work that may take long, of which a line is due in the intervals of waits. For one thread.
class said_work {
 public:
  using clock = std::chrono::steady_clock;
  bool is_due(clock::time_point now) {
    if (now < next_) return false;
    next_ = now + silence_of_waits();
    return true;
  }
  double seconds_until(clock::time_point now) const { return std::chrono::duration<double>(now - began_).count(); }

 private:
  clock::time_point began_ = clock::now(), next_ = began_ + silence_of_waits();
};

// Waits until `ended_within(interval)` is true. After each interval it writes a line to the log, with the text of
// `whom()`, which tells what it waits for.
template <class Ended, class Whom>
void wait_and_say(const Ended& ended_within, const Whom& whom) {
  while (!ended_within(silence_of_waits())) write_log(log_level::warning, "", std::string(whom()));
}

}}}  // namespace pinion::v0::detail
