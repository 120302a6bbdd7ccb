// Threads that run closures, and loops split over them.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace pinion::inline v0 {

// A fixed number of threads and one queue. Thread-safe. Its destructor runs what is queued and joins its threads, so it
// must not be destroyed by one of them. A closure must not throw.
class thread_pool {
 public:
  // With no threads, schedule() runs the closure in the caller.
  explicit thread_pool(int threads) {
    for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { work(); });
  }
  thread_pool(const thread_pool&) = delete;
  ~thread_pool() {
    {
      std::lock_guard hold(mutex_);
      stopping_ = true;
    }
    wake_.notify_all();
    for (auto& t : threads_) t.join();
  }

  int threads() const { return static_cast<int>(threads_.size()); }

  void schedule(std::function<void()> closure) {
    if (threads_.empty()) return closure();
    {
      std::lock_guard hold(mutex_);
      queue_.push_back(std::move(closure));
      queued_.fetch_add(1, std::memory_order_release);
    }
    wake_.notify_one();
  }

  // Runs body(i) for i in [0, chunks), in the caller and in idle threads, and returns when all are done. What a body
  // computes must not depend on which thread runs it. The first exception is rethrown.
  template <class Body>
  void for_each_chunk(std::int64_t chunks, Body&& body) {
    if (chunks <= 1 || threads_.empty()) {
      for (std::int64_t i = 0; i < chunks; ++i) body(i);
      return;
    }
    auto shared = std::make_shared<loop>();
    shared->chunks = chunks;
    shared->body = [&body](std::int64_t i) { body(i); };
    const auto helpers = std::min<std::int64_t>(chunks - 1, threads());
    for (std::int64_t i = 0; i < helpers; ++i) schedule([shared] { shared->help(); });
    shared->help();
    shared->wait();
    if (shared->failure) std::rethrow_exception(shared->failure);
  }

 private:
  // Helpers may come late, when the loop and its caller are gone: they touch nothing but this, and find no chunk left.
  struct loop {
    std::int64_t chunks = 0;
    std::function<void(std::int64_t)> body;
    std::atomic<std::int64_t> next{0}, done{0};
    std::mutex mutex;
    std::condition_variable finished;
    std::exception_ptr failure;

    void help() {
      for (;;) {
        const std::int64_t i = next.fetch_add(1, std::memory_order_relaxed);
        if (i >= chunks) return;
        try {
          body(i);
        } catch (...) {
          std::lock_guard hold(mutex);
          if (!failure) failure = std::current_exception();
        }
        if (done.fetch_add(1, std::memory_order_acq_rel) + 1 == chunks) {
          std::lock_guard hold(mutex);
          finished.notify_all();
        }
      }
    }
    void wait() {
      std::unique_lock hold(mutex);
      finished.wait(hold, [this] { return done.load(std::memory_order_acquire) == chunks; });
    }
  };

  // A sleeping thread takes tens of microseconds to wake, as long as a small kernel runs: look out a while first.
  void spin() const {
    const auto until = std::chrono::steady_clock::now() + std::chrono::microseconds(30);
    while (queued_.load(std::memory_order_acquire) == 0 && std::chrono::steady_clock::now() < until)
      std::this_thread::yield();
  }

  void work() {
    std::unique_lock hold(mutex_);
    for (;;) {
      if (queue_.empty() && !stopping_) {
        hold.unlock();
        spin();
        hold.lock();
      }
      wake_.wait(hold, [this] { return stopping_ || !queue_.empty(); });
      if (queue_.empty()) return;
      auto closure = std::move(queue_.front());
      queue_.pop_front();
      queued_.fetch_sub(1, std::memory_order_relaxed);
      hold.unlock();
      closure();
      closure = nullptr;
      hold.lock();
    }
  }

  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::function<void()>> queue_;
  std::atomic<int> queued_{0};  // its length, to look at without the lock
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace pinion::inline v0
