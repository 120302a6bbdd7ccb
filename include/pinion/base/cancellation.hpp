// A request to stop, that waits can subscribe to.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <utility>

namespace pinion::inline v0 {

// One per step. Thread-safe. Callbacks run once, in the thread that cancels, without a lock held; a callback that was
// unsubscribed in time never runs.
class cancellation {
 public:
  bool cancelled() const { return cancelled_.load(std::memory_order_acquire); }

  void cancel() {
    std::map<std::uint64_t, std::function<void()>> waiting;
    {
      std::lock_guard hold(mutex_);
      if (cancelled()) return;
      cancelled_.store(true, std::memory_order_release);
      waiting.swap(callbacks_);
    }
    for (auto& [id, callback] : waiting) callback();
  }

  // Returns 0, without keeping the callback, if it is cancelled already.
  std::uint64_t subscribe(std::function<void()> callback) {
    std::lock_guard hold(mutex_);
    if (cancelled()) return 0;
    callbacks_.emplace(++last_id_, std::move(callback));
    return last_id_;
  }
  // True if the callback was still waiting, and now will not run.
  bool unsubscribe(std::uint64_t id) {
    std::lock_guard hold(mutex_);
    return callbacks_.erase(id) > 0;
  }

 private:
  std::mutex mutex_;
  std::atomic<bool> cancelled_{false};
  std::uint64_t last_id_ = 0;
  std::map<std::uint64_t, std::function<void()>> callbacks_;
};

}  // namespace pinion::inline v0
