// Waits until a number of events have happened.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>

namespace pinion { inline namespace v0 {

using time_point = std::chrono::steady_clock::time_point;

// A counter that goes down to zero once. Thread-safe. A wait spins for a short time and then sleeps: steps and replies
// are short, and a sleeping thread takes tens of microseconds to wake up.
class countdown {
 public:
  explicit countdown(int n = 1) : left_(n) {}
  countdown(const countdown&) = delete;

  // Counts one event. It holds the lock, so that the waiter may destroy the counter as soon as wait() returns.
  void count_down() {
    std::lock_guard hold(mutex_);
    if (left_.fetch_sub(1, std::memory_order_acq_rel) == 1) zero_.notify_all();
  }
  // True once the counter is zero.
  bool done() const { return left_.load(std::memory_order_acquire) <= 0; }

  // Waits for zero. Returns false if the deadline came first; without a deadline it waits without a limit.
  bool wait(const std::optional<time_point>& deadline = {}) {
    const auto spun = std::chrono::steady_clock::now() + std::chrono::microseconds(30);
    while (!done() && std::chrono::steady_clock::now() < spun) std::this_thread::yield();
    std::unique_lock hold(mutex_);
    const auto is_zero = [this] { return done(); };
    if (!deadline) zero_.wait(hold, is_zero);
    return !deadline || zero_.wait_until(hold, *deadline, is_zero);
  }

 private:
  std::mutex mutex_;
  std::condition_variable zero_;
  std::atomic<int> left_;
};

}}  // namespace pinion::v0
