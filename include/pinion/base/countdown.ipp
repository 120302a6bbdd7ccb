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

PINION_DECL bool countdown::wait(const std::optional<time_point>& deadline) {
  constexpr std::chrono::microseconds spins{30};
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
  std::timespec at{};
  if (deadline) {
    const auto since = deadline->time_since_epoch();
    const auto whole = duration_cast<seconds>(since);
    if (since <= nanoseconds::zero()) return false;
    at = {static_cast<std::time_t>(whole.count()), static_cast<long>(nanoseconds(since - whole).count())};
  }
  // The monotonic clock of the system is steady_clock's.
  const long slept = ::syscall(SYS_futex, &where, FUTEX_WAIT_BITSET_PRIVATE, value, deadline ? &at : nullptr, nullptr,
                               FUTEX_BITSET_MATCH_ANY);
  return slept == 0 || errno != ETIMEDOUT;
}

}}  // namespace pinion::v0
