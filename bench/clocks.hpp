// The clocks of the benchmarks, in seconds, and the median of a sample.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <ctime>
#include <vector>

namespace bench {

using clock = std::chrono::steady_clock;

// Time of this thread, or of all threads of the process, on a processor: what other programs take of the machine is not
// in it.
inline double seconds_of(clockid_t which) {
  timespec t;
  clock_gettime(which, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}
inline double thread_seconds() {
  return seconds_of(CLOCK_THREAD_CPUTIME_ID);
}
inline double process_seconds() {
  return seconds_of(CLOCK_PROCESS_CPUTIME_ID);
}

// Time on the wall, for work of several threads or processes.
inline double wall_seconds() {
  return std::chrono::duration<double>(clock::now().time_since_epoch()).count();
}

inline double median(std::vector<double> v) {
  if (v.empty()) return 0;
  std::nth_element(v.begin(), v.begin() + static_cast<std::ptrdiff_t>(v.size() / 2), v.end());
  return v[v.size() / 2];
}

}  // namespace bench
