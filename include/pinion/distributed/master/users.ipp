// Bodies of <pinion/distributed/master/users.hpp>.
#pragma once

#include <utility>

#include <pinion/distributed/master/users.hpp>

namespace pinion { inline namespace v0 { namespace distributed {

PINION_DECL users::one::one(std::shared_ptr<users> of) : of_(std::move(of)) {
  std::lock_guard hold(of_->mutex_);
  ++of_->count_;
}

PINION_DECL users::one::~one() {
  std::lock_guard hold(of_->mutex_);
  if (--of_->count_ == 0) of_->none_.notify_all();
}

PINION_DECL bool users::wait_until_none(time_point until) {
  std::unique_lock hold(mutex_);
  return none_.wait_until(hold, until, [this] { return count_ == 0; });
}

}}}  // namespace pinion::v0::distributed
