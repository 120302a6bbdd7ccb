// Waits without a deadline: the thing waited for uses memory that is freed after the wait.
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

// Waits until `ended_within(interval)` is true. After each interval it writes a line to the log, with the text of
// `whom()`, which tells what it waits for.
template <class Ended, class Whom>
void wait_and_say(const Ended& ended_within, const Whom& whom) {
  while (!ended_within(silence_of_waits())) write_log(log_level::warning, "", std::string(whom()));
}

}}}  // namespace pinion::v0::detail
