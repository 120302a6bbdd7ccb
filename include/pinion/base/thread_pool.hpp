// Threads that run closures, and loops split over them.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/base/loop_body.hpp>

namespace pinion { inline namespace v0 {

// A fixed number of threads and one queue. Thread-safe. Its destructor runs what is queued and joins its threads, so it
// must not be destroyed by one of them. A closure must not throw.
class thread_pool {
 public:
  // With no threads, schedule() runs the closure in the caller.
  explicit thread_pool(int threads);
  thread_pool(const thread_pool&) = delete;
  ~thread_pool();

  int threads() const { return static_cast<int>(threads_.size()); }

  void schedule(std::function<void()> closure);

  // Runs body(i) for i in [0, chunks), in the caller and in idle threads, and returns when all are done. What a body
  // computes must not depend on which thread runs it. The first exception is rethrown.
  void for_each_chunk(std::int64_t chunks, loop_body body);

 private:
  // Helpers may come late, when the loop and its caller are gone: they touch nothing but this, and find no chunk left.
  struct loop {
    loop(std::int64_t n, loop_body b) : chunks(n), body(b) {}

    const std::int64_t chunks;
    const loop_body body;
    std::atomic<std::int64_t> next{0}, done{0};
    std::mutex mutex;
    std::condition_variable finished;
    std::exception_ptr failure;

    void help();
    void wait();
  };

  // A sleeping thread takes tens of microseconds to wake, as long as a small kernel runs: look out a while first.
  void spin() const;

  void work();

  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::function<void()>> queue_;
  std::atomic<int> queued_{0};  // its length, to look at without the lock
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/base/thread_pool.ipp>
#endif
