// The calls of the system that a simulation answers itself: threads, locks, conditions, clocks, random numbers. They
// stand before those of the C library in the whole program, so that the cluster's code runs unchanged, and answer only
// the threads that a simulation knows. Include it in one unit.
#pragma once

#include <dlfcn.h>
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cstdarg>
#include <cstring>
#include <random>

#include "scheduler.hpp"

namespace simulation {

// The C library's own function of a name, looked up once. Some have an older version, which is another function.
template <class F>
F original(F& kept, const char* name, const char* version = nullptr) {
  if (!kept) kept = reinterpret_cast<F>(version ? ::dlvsym(RTLD_NEXT, name, version) : ::dlsym(RTLD_NEXT, name));
  return kept;
}

// The simulation's scheduler, if the calling thread is one of its threads.
inline scheduler* here() {
  return scheduler::me() ? scheduler::now_running() : nullptr;
}

inline time_point to_time(const timespec& t) {
  return time_point(std::chrono::seconds(t.tv_sec) + std::chrono::nanoseconds(t.tv_nsec));
}
inline timespec to_timespec(std::chrono::nanoseconds since) {
  return {static_cast<time_t>(since.count() / 1'000'000'000), static_cast<long>(since.count() % 1'000'000'000)};
}
// The simulated clock of the wall: it runs with the other one.
inline constexpr std::chrono::seconds wall_offset{1'700'000'000};
inline time_point to_time(clockid_t which, const timespec& t) {
  return which == CLOCK_REALTIME ? to_time(t) - wall_offset : to_time(t);
}

// ---- threads

struct body {
  strand* as;
  void* (*run)(void*);
  void* with;
};
struct end_of_thread {
  // Keys are destroyed after the thread's own objects. The second round comes after those of other keys.
  static void at_end(void* self) {
    if (self != &again_)
      pthread_setspecific(key(), &again_);
    else if (scheduler* t = here())
      t->end();
  }
  static pthread_key_t key() {
    static const pthread_key_t made = [] {
      pthread_key_t k;
      pthread_key_create(&k, at_end);
      return k;
    }();
    return made;
  }
  static inline char again_ = 0;
};
inline void* begin_thread(void* given) {
  const body what = *static_cast<body*>(given);
  delete static_cast<body*>(given);
  scheduler::begin(what.as);
  pthread_setspecific(end_of_thread::key(), what.as);
  return what.run(what.with);
}

inline int (*real_create)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
inline int (*real_join)(pthread_t, void**);
inline int (*real_detach)(pthread_t);
inline int (*real_lock)(pthread_mutex_t*);
inline int (*real_unlock)(pthread_mutex_t*);
inline int (*real_cond_wait)(pthread_cond_t*, pthread_mutex_t*);
inline int (*real_cond_timedwait)(pthread_cond_t*, pthread_mutex_t*, const timespec*);
inline int (*real_cond_clockwait)(pthread_cond_t*, pthread_mutex_t*, clockid_t, const timespec*);
inline int (*real_signal)(pthread_cond_t*);
inline int (*real_broadcast)(pthread_cond_t*);
inline int (*real_yield)();
inline int (*real_nanosleep)(const timespec*, timespec*);
inline int (*real_clock_nanosleep)(clockid_t, int, const timespec*, timespec*);
inline int (*real_gettime)(clockid_t, timespec*);
inline long (*real_syscall)(long, ...);
inline int (*real_random_bytes)(unsigned char*, int);

// Nobody else runs between the release of the lock and the wait.
inline bool wait_on(scheduler& t, pthread_cond_t* c, pthread_mutex_t* m, time_point until) {
  original(real_unlock, "pthread_mutex_unlock")(m);
  --scheduler::me()->locks;
  t.wake(m, true);
  const bool woken = t.wait(c, until);
  pthread_mutex_lock(m);
  return woken;
}

}  // namespace simulation

extern "C" {

int pthread_create(pthread_t* to, const pthread_attr_t* how, void* (*run)(void*), void* with) noexcept {
  simulation::scheduler* const t = simulation::here();
  if (!t) return simulation::original(simulation::real_create, "pthread_create")(to, how, run, with);
  simulation::strand* const made = t->add(simulation::scheduler::me()->of);
  const int answer = simulation::original(simulation::real_create, "pthread_create")(
      to, how, simulation::begin_thread, new simulation::body{made, run, with});
  if (answer == 0)
    made->real = *to;
  else
    t->forget(made);
  return answer;
}

int pthread_join(pthread_t who, void** result) {
  simulation::scheduler* const t = simulation::here();
  simulation::strand* const other = t ? t->find(who) : nullptr;
  if (other) {
    while (other->is != simulation::strand::state::ended) t->wait(other);
    other->joined = true;
  }
  const int answer = simulation::original(simulation::real_join, "pthread_join")(who, result);
  if (other) t->forget(other);
  return answer;
}

int pthread_detach(pthread_t who) noexcept {
  simulation::scheduler* const t = simulation::here();
  if (simulation::strand* const other = t ? t->find(who) : nullptr) {
    other->joined = other->detached = true;
    if (other->is == simulation::strand::state::ended) t->forget(other);
  }
  return simulation::original(simulation::real_detach, "pthread_detach")(who);
}

// ---- locks and conditions

int pthread_mutex_lock(pthread_mutex_t* m) noexcept {
  simulation::scheduler* const t = simulation::here();
  if (!t) return simulation::original(simulation::real_lock, "pthread_mutex_lock")(m);
  t->hurry();
  for (;;) {
    const int answer = pthread_mutex_trylock(m);
    if (answer == 0) ++simulation::scheduler::me()->locks;
    if (answer != EBUSY) return answer;
    t->wait(m);
  }
}

int pthread_mutex_unlock(pthread_mutex_t* m) noexcept {
  const int answer = simulation::original(simulation::real_unlock, "pthread_mutex_unlock")(m);
  if (simulation::scheduler* const t = simulation::here()) {
    --simulation::scheduler::me()->locks;
    t->wake(m, true);
    t->released();
  }
  return answer;
}

int pthread_cond_wait(pthread_cond_t* c, pthread_mutex_t* m) {
  simulation::scheduler* const t = simulation::here();
  if (!t) return simulation::original(simulation::real_cond_wait, "pthread_cond_wait", "GLIBC_2.3.2")(c, m);
  simulation::wait_on(*t, c, m, simulation::time_point::max());
  return 0;
}

int pthread_cond_timedwait(pthread_cond_t* c, pthread_mutex_t* m, const timespec* until) {
  simulation::scheduler* const t = simulation::here();
  if (!t)
    return simulation::original(simulation::real_cond_timedwait, "pthread_cond_timedwait", "GLIBC_2.3.2")(c, m, until);
  return simulation::wait_on(*t, c, m, simulation::to_time(CLOCK_REALTIME, *until)) ? 0 : ETIMEDOUT;
}

int pthread_cond_clockwait(pthread_cond_t* c, pthread_mutex_t* m, clockid_t which, const timespec* until) {
  simulation::scheduler* const t = simulation::here();
  if (!t) return simulation::original(simulation::real_cond_clockwait, "pthread_cond_clockwait")(c, m, which, until);
  return simulation::wait_on(*t, c, m, simulation::to_time(which, *until)) ? 0 : ETIMEDOUT;
}

int pthread_cond_signal(pthread_cond_t* c) noexcept {
  simulation::scheduler* const t = simulation::here();
  if (!t) return simulation::original(simulation::real_signal, "pthread_cond_signal", "GLIBC_2.3.2")(c);
  t->wake(c, false);
  return 0;
}

int pthread_cond_broadcast(pthread_cond_t* c) noexcept {
  simulation::scheduler* const t = simulation::here();
  if (!t) return simulation::original(simulation::real_broadcast, "pthread_cond_broadcast", "GLIBC_2.3.2")(c);
  t->wake(c, true);
  return 0;
}

// Atomic waits of the C++ library come by this way.
long syscall(long number, ...) noexcept {
  va_list given;
  va_start(given, number);
  long a[6];
  for (long& x : a) x = va_arg(given, long);
  va_end(given);
  simulation::scheduler* const t = number == SYS_futex ? simulation::here() : nullptr;
  if (!t) return simulation::original(simulation::real_syscall, "syscall")(number, a[0], a[1], a[2], a[3], a[4], a[5]);
  int* const at = reinterpret_cast<int*>(a[0]);
  const int what = static_cast<int>(a[1]) & FUTEX_CMD_MASK;
  if (what == FUTEX_WAKE) return t->wake(at, true), 1;
  if (*static_cast<volatile int*>(at) != static_cast<int>(a[2])) return errno = EAGAIN, -1;
  const auto* const limit = reinterpret_cast<const timespec*>(a[3]);
  simulation::time_point until = simulation::time_point::max();
  if (limit)
    until =
        what == FUTEX_WAIT ? t->now() + simulation::to_time(*limit).time_since_epoch() : simulation::to_time(*limit);
  return t->wait(at, until) ? 0 : (errno = ETIMEDOUT, -1);
}

// ---- clocks

int sched_yield() noexcept {
  simulation::scheduler* const t = simulation::here();
  if (!t) return simulation::original(simulation::real_yield, "sched_yield")();
  // Threads yield while they look for something to come soon, for 300 us at most. One look is enough here, since each
  // costs a run some switches.
  t->sleep(std::chrono::microseconds(350));
  return 0;
}

int nanosleep(const timespec* time, timespec* left) {
  simulation::scheduler* const t = simulation::here();
  if (!t) return simulation::original(simulation::real_nanosleep, "nanosleep")(time, left);
  t->sleep(simulation::to_time(*time).time_since_epoch());
  return 0;
}

int clock_nanosleep(clockid_t which, int flags, const timespec* time, timespec* left) {
  simulation::scheduler* const t = simulation::here();
  if (!t) return simulation::original(simulation::real_clock_nanosleep, "clock_nanosleep")(which, flags, time, left);
  if (flags == TIMER_ABSTIME)
    t->wait(time, simulation::to_time(which, *time));
  else
    t->sleep(simulation::to_time(*time).time_since_epoch());
  return 0;
}

int clock_gettime(clockid_t which, timespec* to) noexcept {
  simulation::scheduler* const t = simulation::here();
  if (!t || (which != CLOCK_MONOTONIC && which != CLOCK_REALTIME))
    return simulation::original(simulation::real_gettime, "clock_gettime")(which, to);
  const auto since = t->now().time_since_epoch();
  *to = simulation::to_timespec(which == CLOCK_REALTIME ? since + simulation::wall_offset : since);
  return 0;
}

// ---- random numbers

int RAND_bytes(unsigned char* to, int bytes) {
  simulation::scheduler* const t = simulation::here();
  if (!t) return simulation::original(simulation::real_random_bytes, "RAND_bytes")(to, bytes);
  for (int i = 0; i < bytes; ++i) to[i] = static_cast<unsigned char>(t->draw());
  return 1;
}

}  // extern "C"

// The body of std::random_device::operator().
std::random_device::result_type std::random_device::_M_getval() {
  if (simulation::scheduler* const t = simulation::here()) return static_cast<result_type>(t->draw());
  result_type drawn = 0;
  static_cast<void>(!::getentropy(&drawn, sizeof drawn));
  return drawn;
}
