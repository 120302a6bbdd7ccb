// Bodies of <pinion/base/thread_place.hpp>.
#pragma once

#if defined(__linux__)
#include <sched.h>
#include <unistd.h>
#endif

#include <pinion/base/thread_place.hpp>

namespace pinion { inline namespace v0 {

#if defined(__linux__)

namespace detail {

// Changes the processors on which a thread may run, beginning with those of now: the program may have chosen them.
// Returns whether the thread has some, and the system agrees.
template <class Change>
bool change_processors(int thread, Change change) {
  cpu_set_t may;
  if (::sched_getaffinity(thread, sizeof may, &may) != 0) return false;
  change(may);
  return CPU_COUNT(&may) > 0 && ::sched_setaffinity(thread, sizeof may, &may) == 0;
}

inline int name_of_this_thread() {
  thread_local const int name = ::gettid();
  return name;
}

}  // namespace detail

PINION_DECL int thread_place::here() {
  return ::sched_getcpu();
}

PINION_DECL void thread_place::settle() {
  if (thread_.load(std::memory_order_relaxed) == 0) {
    thread_.store(detail::name_of_this_thread());
    process_.store(::getpid());
  }
  if (kept_off_.load(std::memory_order_relaxed) >= 0) {
    const int again = kept_off_.exchange(-1);
    detail::change_processors(0, [again](cpu_set_t& may) { CPU_SET(again, &may); });
  }
  if (const int now = here(); now != at_.load(std::memory_order_relaxed)) at_.store(now, std::memory_order_relaxed);
}

// It is told that it is kept off after that is so: a thread that settles in between runs where it may the next time.
PINION_DECL void thread_place::keep_off(int processor) {
  if (processor < 0 || at_.load(std::memory_order_relaxed) != processor || kept_off_.load() >= 0) return;
  const int thread = thread_.load();
  if (thread == detail::name_of_this_thread()) return;
  if (process_.load() != ::getpid()) return;  // a child of fork() sees the places of its parent's threads
  if (!detail::change_processors(thread, [processor](cpu_set_t& may) { CPU_CLR(processor, &may); })) return;
  at_.store(-1, std::memory_order_relaxed);
  kept_off_.store(processor);
}

#else

PINION_DECL int thread_place::here() {
  return -1;
}
PINION_DECL void thread_place::settle() {}
PINION_DECL void thread_place::keep_off(int) {}

#endif

}}  // namespace pinion::v0
