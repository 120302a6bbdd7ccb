// Those who use something that is going to be stopped.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <utility>

#include <pinion/base/countdown.hpp>

namespace pinion::inline v0::distributed {

// Counts them, so that whoever stops it can wait for them, but not for ever. Shared by all of them. Thread-safe.
class users {
 public:
  // One who uses it, until it goes.
  class one {
   public:
    explicit one(std::shared_ptr<users> of) : of_(std::move(of)) {
      std::lock_guard hold(of_->mutex_);
      ++of_->count_;
    }
    one(const one&) = delete;
    ~one() {
      std::lock_guard hold(of_->mutex_);
      if (--of_->count_ == 0) of_->none_.notify_all();
    }

   private:
    const std::shared_ptr<users> of_;
  };

  // False where somebody still uses it then.
  bool wait_until_none(time_point until) {
    std::unique_lock hold(mutex_);
    return none_.wait_until(hold, until, [this] { return count_ == 0; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable none_;
  int count_ = 0;
};

}  // namespace pinion::inline v0::distributed
