// Bodies of <pinion/base/time_slice.hpp>.
#pragma once

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>

#include <pinion/base/time_slice.hpp>

namespace pinion { inline namespace v0 { namespace detail {

// The first version of the system's sched_attr, which glibc does not declare before 2.41.
struct scheduling {
  std::uint32_t size = sizeof(scheduling), policy = 0;
  std::uint64_t flags = 0;
  std::int32_t nice = 0;
  std::uint32_t priority = 0;
  std::uint64_t runtime = 0, deadline = 0, period = 0;  // nanoseconds
};

}}}  // namespace pinion::v0::detail

namespace pinion { inline namespace v0 {

PINION_DECL void take_short_slices() {
#if defined(SYS_sched_getattr) && defined(SYS_sched_setattr)
  constexpr std::uint64_t shortest = 100'000;  // of the slices that there are
  detail::scheduling mine;
  if (::syscall(SYS_sched_getattr, 0, &mine, sizeof mine, 0) != 0 || mine.policy != SCHED_OTHER) return;
  mine.runtime = shortest;
  static_cast<void>(::syscall(SYS_sched_setattr, 0, &mine, 0));
#endif
}

}}  // namespace pinion::v0
