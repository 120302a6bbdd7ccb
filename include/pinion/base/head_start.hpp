// Slow work that a process does once, started before it is needed.
#pragma once

#include <pthread.h>

#include <atomic>
#include <mutex>
#include <system_error>
#include <thread>

#include <pinion/base/process.hpp>

namespace pinion { inline namespace v0 {

// Runs Work in a thread of its own, once in a process. Thread-safe. The code that needs the work later must be able to
// find it done, wait for it, or do it itself: an exception of Work is dropped, and if no thread can be made the work is
// not done here.
//
// Invariants
//   1. begin() never waits.
//   2. The thread that called begin() does not end before the work has ended. The thread-local objects of the main
//      thread are destroyed before all static ones, so that static objects that the work has made are not destroyed
//      while it runs. A static object would wait too late, since objects are destroyed in the reverse order of their
//      registration.
//   3. One thread at a time joins the work's: where two do, glibc 2.36 lets one of them wait for ever.
//   4. The process is not forked while the work runs: the child would find locks that no thread releases.
template <void (*Work)()>
class head_start {
 public:
  // Starts the work, unless it was started before.
  static void begin() {
    auto& is = all();
    if (is.begun.exchange(true)) return;
    std::lock_guard hold(is.mutex);
    try {
      ::pthread_atfork(before_fork, after_fork, after_fork);
      is.thread = std::thread(run);
    } catch (const std::system_error&) {
      return;
    }
    thread_local const waits_at_its_end this_thread;
    static_cast<void>(&this_thread);           // this constructs it
    static const waits_at_its_end until_exit;  // where another thread ends the process
  }
  // True once begin() was called.
  static bool begun() { return all().begun; }

 private:
  struct state {
    std::atomic<bool> begun{false};
    std::mutex mutex;
    std::thread thread;
  };
  struct waits_at_its_end {
    waits_at_its_end() = default;
    ~waits_at_its_end() {
      std::lock_guard hold(all().mutex);
      join();
    }
  };
  static state& all() { return of_this_process<state>(); }
  static void run() {
    try {
      Work();
    } catch (...) {  // the code that needs the work meets the same error
    }
  }
  static void before_fork() {
    all().mutex.lock();
    join();
  }
  static void after_fork() { all().mutex.unlock(); }
  static void join() {
    if (all().thread.joinable()) all().thread.join();
  }
};

}}  // namespace pinion::v0
