// Slow work that a process has to do once, begun before it is needed.
#pragma once

#include <pthread.h>

#include <atomic>
#include <mutex>
#include <system_error>
#include <thread>

namespace pinion { inline namespace v0 {

// Work in a thread of its own, once in a process. It must be of a kind that who needs it later finds done, waits for,
// or does itself. What it throws is dropped, and a thread that cannot be made is done without. Thread-safe.
//
// Invariants
//   1. begin() never waits.
//   2. The thread that called begin() does not end before the work has. The thread-local objects of the main thread go
//      before anything static, so that what the work leaves for static destruction is not destroyed while it runs. An
//      object that is static itself would wait too late: what was registered last goes first.
//   3. No process is forked while it runs: the child would find locks that nobody is there to release.
template <void (*Work)()>
class head_start {
 public:
  static void begin() {
    if (self().begun_.exchange(true)) return;
    std::lock_guard hold(self().mutex_);
    try {
      ::pthread_atfork(before_fork, after_fork, after_fork);
      self().thread_ = std::thread(run);
    } catch (const std::system_error&) {
      return;
    }
    thread_local const waits_at_its_end this_thread;
    static_cast<void>(&this_thread);  // which makes it
  }
  static bool begun() { return self().begun_; }

 private:
  struct waits_at_its_end {
    waits_at_its_end() = default;
    ~waits_at_its_end() {
      std::lock_guard hold(self().mutex_);
      self().join();
    }
  };
  static head_start& self() {
    static head_start one;
    return one;
  }
  static void run() {
    try {
      Work();
    } catch (...) {  // those who need it meet that themselves
    }
  }
  static void before_fork() {
    self().mutex_.lock();
    self().join();
  }
  static void after_fork() { self().mutex_.unlock(); }

  head_start() = default;
  ~head_start() { join(); }  // begun by a thread that is still there when another one ends the process
  void join() {
    if (thread_.joinable()) thread_.join();
  }

  std::atomic<bool> begun_{false};
  std::mutex mutex_;
  std::thread thread_;
};

}}  // namespace pinion::v0
