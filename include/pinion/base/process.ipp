// Bodies of <pinion/base/process.hpp>.
#pragma once

#include <pthread.h>

#include <pinion/base/error.hpp>
#include <pinion/base/process.hpp>

namespace pinion { inline namespace v0 {

namespace detail {

// Counts in the child, which has a copy of its own.
struct fork_count {
  fork_count() { ::pthread_atfork(nullptr, nullptr, in_child); }
  static void in_child() { ++of_this_process<detail::fork_count>().now; }

  std::atomic<std::uint64_t> now{0};
};

}  // namespace detail

PINION_DECL std::uint64_t process_mark::forks() {
  return of_this_process<detail::fork_count>().now.load(std::memory_order_relaxed);
}

PINION_DECL void process_mark::expect(const std::string& what) const {
  if (is_this()) return;
  throw error(errc::failed_precondition,
              what +
                  " was made before fork(), and the threads and connections behind it are not there in the child; make "
                  "it in the child, or start a program of its own");
}

}}  // namespace pinion::v0
