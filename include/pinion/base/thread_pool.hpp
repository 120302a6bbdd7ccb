// A pool of threads that run closures, and loops that are split over them.
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

// A fixed number of threads with one queue. Thread-safe. It owns its threads; the destructor runs the closures that are
// queued and joins the threads, so none of them may destroy the pool. A closure must not throw.
class thread_pool {
 public:
  // With 0 threads, schedule() runs each closure in the caller.
  explicit thread_pool(int threads);
  thread_pool(const thread_pool&) = delete;
  ~thread_pool();

  int threads() const { return static_cast<int>(threads_.size()); }

  // Queues a closure for the next idle thread.
  void schedule(std::function<void()> closure);

  // Runs body(i) for each i in [0, chunks), in the caller and in idle threads, and returns when all are done. Rethrows
  // the first exception. Requires: the results do not depend on the thread that runs a body.
  void for_each_chunk(std::int64_t chunks, loop_body body);

 private:
  // A loop that threads share. A helper may come when the loop and its caller are gone: it touches nothing but this
  // object, and finds no chunk left.
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

  // Looks for work for a short time before sleeping, since a sleeping thread takes as long to wake up as a small kernel
  // runs: tens of microseconds.
  void spin() const;

  void work();

  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::function<void()>> queue_;
  std::atomic<int> queued_{0};  // the length of the queue, to be read without the lock
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/base/thread_pool.ipp>
#endif
