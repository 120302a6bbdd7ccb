// Waits that have no deadline, because what they wait for uses what would be freed behind them.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdio>
#include <string>

namespace pinion { inline namespace v0 { namespace detail {

inline std::atomic<std::chrono::milliseconds> said_wait_interval{std::chrono::seconds(10)};

// Waits until `ended_within(interval)` is true. After each interval a line on standard error says what `whom()` does.
template <class Ended, class Whom>
void wait_and_say(const Ended& ended_within, const Whom& whom) {
  while (!ended_within(said_wait_interval.load())) std::fprintf(stderr, "pinion: %s\n", std::string(whom()).c_str());
}

}}}  // namespace pinion::v0::detail
