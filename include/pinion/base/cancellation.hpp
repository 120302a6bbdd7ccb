// A request to stop, to which waits can subscribe.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>

#include <pinion/base/config.hpp>

namespace pinion { inline namespace v0 {

// The cancellation of one step. Thread-safe. It owns the callbacks until they run or are unsubscribed. They run once,
// in the thread that cancels, without a lock held; one that throws runs again, a few times (see insist). A callback
// that was unsubscribed in time never runs.
class cancellation {
 public:
  // True once cancel() was called.
  bool cancelled() const { return cancelled_.load(std::memory_order_acquire); }

  // Why a step is cancelled: a part of it has failed, or it is given up: its time is up, or a task of it is lost.
  enum class reason { failed, given_up };
  // Cancels, and runs the callbacks. A second call does nothing.
  void cancel(reason why = reason::failed);
  // Was it cancelled for that reason?
  bool given_up() const { return given_up_.load(std::memory_order_acquire); }

  // Keeps a callback for cancel() and returns its id. Returns 0 without keeping it if cancel() was called before; the
  // caller then cancels by itself.
  std::uint64_t subscribe(std::function<void()> callback);
  // Removes a callback. Returns true if it had not run, and will not.
  bool unsubscribe(std::uint64_t id);
  // Would a cancellation now be heard by anybody?
  bool is_heard() const;

 private:
  mutable std::mutex mutex_;
  std::atomic<bool> cancelled_{false}, given_up_{false};
  std::uint64_t last_id_ = 0;
  std::map<std::uint64_t, std::function<void()>> callbacks_;
};

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/base/cancellation.ipp>
#endif
