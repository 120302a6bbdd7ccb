// Bodies of <pinion/base/process.hpp>.
#pragma once

#include <pthread.h>

#include <chrono>
#include <mutex>
#include <thread>
#include <utility>

#include <pinion/base/error.hpp>
#include <pinion/base/process.hpp>

namespace pinion { inline namespace v0 {

namespace detail {

// Counts what threads of this process are making. Others begin nothing while it is forked off.
struct made_now {
  static inline std::mutex gate;
  static inline int count = 0;
  static inline bool is_watched = false;

  static void watch_forks() {
    if (!std::exchange(is_watched, true)) ::pthread_atfork(wait_for_all, in_parent, in_child);
  }

 private:
  static void wait_for_all() {
    gate.lock();
    for (int tries = 0; count > 0 && tries < 1000; ++tries) {
      gate.unlock();
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      gate.lock();
    }
  }
  static void in_parent() { gate.unlock(); }
  static void in_child() {
    count = 0;  // their threads are not there
    gate.unlock();
  }
};

PINION_DECL being_made::being_made() {
  const std::lock_guard hold(made_now::gate);
  made_now::watch_forks();
  ++made_now::count;
}

PINION_DECL being_made::~being_made() {
  const std::lock_guard hold(made_now::gate);
  if (made_now::count > 0) --made_now::count;
}

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
