// Waiting until a number of things have happened.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>

namespace pinion { inline namespace v0 {

using time_point = std::chrono::steady_clock::time_point;

// Counts to zero once. Thread-safe. Waiting is a short spin, since steps and replies are short and a sleeping thread
// takes tens of microseconds to wake; then a sleep.
class countdown {
 public:
  explicit countdown(int n = 1) : left_(n) {}
  countdown(const countdown&) = delete;

  // Under the lock, so that whoever waits may destroy it as soon as wait() returns.
  void count_down() {
    std::lock_guard hold(mutex_);
    if (left_.fetch_sub(1, std::memory_order_acq_rel) == 1) zero_.notify_all();
  }
  bool done() const { return left_.load(std::memory_order_acquire) <= 0; }

  // False when the deadline came first.
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
