// A request to stop, that waits can subscribe to.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>

#include <pinion/base/config.hpp>

namespace pinion { inline namespace v0 {

// One per step. Thread-safe. Callbacks run once, in the thread that cancels, without a lock held; a callback that was
// unsubscribed in time never runs.
class cancellation {
 public:
  bool cancelled() const { return cancelled_.load(std::memory_order_acquire); }

  void cancel();

  // Returns 0, without keeping the callback, if it is cancelled already.
  std::uint64_t subscribe(std::function<void()> callback);
  // True if the callback was still waiting, and now will not run.
  bool unsubscribe(std::uint64_t id);

 private:
  std::mutex mutex_;
  std::atomic<bool> cancelled_{false};
  std::uint64_t last_id_ = 0;
  std::map<std::uint64_t, std::function<void()>> callbacks_;
};

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/base/cancellation.ipp>
#endif
