// Bodies of <pinion/base/cancellation.hpp>.
#pragma once

#include <utility>

#include <pinion/base/cancellation.hpp>
#include <pinion/base/insist.hpp>

namespace pinion { inline namespace v0 {

PINION_DECL void cancellation::cancel(reason why) {
  std::map<std::uint64_t, std::function<void()>> waiting;
  {
    std::lock_guard hold(mutex_);
    if (cancelled()) return;
    given_up_.store(why == reason::given_up, std::memory_order_release);
    cancelled_.store(true, std::memory_order_release);
    waiting.swap(callbacks_);
  }
  for (auto& [id, callback] : waiting) insist(callback);  // one that takes memory in vain keeps no other from it
}

PINION_DECL std::uint64_t cancellation::subscribe(std::function<void()> callback) {
  std::lock_guard hold(mutex_);
  if (cancelled()) return 0;
  callbacks_.emplace(++last_id_, std::move(callback));
  return last_id_;
}

PINION_DECL bool cancellation::unsubscribe(std::uint64_t id) {
  std::lock_guard hold(mutex_);
  return callbacks_.erase(id) > 0;
}

PINION_DECL bool cancellation::is_heard() const {
  std::lock_guard hold(mutex_);
  return !callbacks_.empty();
}

}}  // namespace pinion::v0
