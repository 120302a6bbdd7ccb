// A pool of threads that run closures, and loops that are split over them.
#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
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
  // the first exception. Takes no lock while threads are awake: handing a chunk over costs less than a microsecond.
  // Requires: the results do not depend on the thread that runs a body.
  void for_each_chunk(std::int64_t chunks, loop_body body);

 private:
  // A loop that threads share. It lives on the stack of its caller.
  struct loop {
    const std::int64_t chunks;
    const loop_body body;
    std::atomic<std::int64_t> next{0};
    std::mutex mutex = {};
    std::exception_ptr failure = nullptr;

    loop(std::int64_t n, loop_body b) : chunks(n), body(b) {}
    // Runs chunks until none is left to begin. Returns false if there was none.
    bool help();
  };

  // A place where a caller shows its loop to the threads of the pool. A thread counts itself as inside before it looks
  // at the loop, and the caller waits until nobody is inside before the loop goes.
  struct alignas(64) slot {
    std::atomic<loop*> open{nullptr};
    alignas(64) std::atomic<int> inside{0};

    bool show(loop& mine);
    void close();
    bool help();
  };

  void share(std::int64_t chunks, loop_body body);
  bool help_callers();
  bool run_queued();
  bool shows_a_loop() const;
  void wake_for_loop();

  // Looks for work for a time before sleeping, and lets other threads run meanwhile: a sleeping thread takes tens of
  // microseconds to wake up, as long as a piece of a small step takes, and the pieces of a step come some hundred
  // microseconds apart. Returns false where it found none.
  bool find_work();
  // Sleeps until there is work. Returns false where the pool ends.
  bool sleep();

  std::array<slot, 4> slots_;  // a caller that finds none free runs its loop alone
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::function<void()>> queue_;
  std::atomic<int> queued_{0};         // the length of the queue, to be read without the lock
  std::atomic<int> asleep_{0};         // changes under the lock
  std::atomic<bool> stopping_{false};  // changes under the lock
  std::vector<std::thread> threads_;
};

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/base/thread_pool.ipp>
#endif
