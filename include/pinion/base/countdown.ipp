// Bodies of <pinion/base/countdown.hpp>.
#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <ctime>
#include <thread>

#include <pinion/base/countdown.hpp>

namespace pinion { inline namespace v0 {

PINION_DECL bool countdown::wait(const std::optional<time_point>& deadline, std::chrono::nanoseconds spins) {
  const auto spun = std::chrono::steady_clock::now() + spins;
  while (!done() && std::chrono::steady_clock::now() < spun) std::this_thread::yield();
  while (!done()) {
    const int value = word_.fetch_or(asleep, std::memory_order_acq_rel) | asleep;
    if (!is_zero(value) && !sleep(word_, value, deadline)) return done();
  }
  return true;
}

PINION_DECL void countdown::wake(const word* where) {
  static_assert(word::is_always_lock_free && sizeof(word) == sizeof(int));
  ::syscall(SYS_futex, where, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
}

PINION_DECL bool countdown::sleep(const word& where, int value, const std::optional<time_point>& deadline) {
  using namespace std::chrono;
  // A call with a limit is not begun anew behind the handler of a signal.
  const auto until = deadline.value_or(steady_clock::now() + hours(1)).time_since_epoch();
  if (until <= nanoseconds::zero()) return false;
  const auto whole = duration_cast<seconds>(until);
  // The monotonic clock of the system is steady_clock's.
  const std::timespec at{static_cast<std::time_t>(whole.count()),
                         static_cast<long>(nanoseconds(until - whole).count())};
  const long slept =
      ::syscall(SYS_futex, &where, FUTEX_WAIT_BITSET_PRIVATE, value, &at, nullptr, FUTEX_BITSET_MATCH_ANY);
  const int why = slept == 0 ? 0 : errno;
  // ThreadSanitizer keeps a signal back that comes during this call, until the thread makes one that it knows.
  if (why == EINTR) std::this_thread::sleep_for(nanoseconds(1));
  return why != ETIMEDOUT || !deadline;
}

}}  // namespace pinion::v0
