// Bodies of <pinion/distributed/master/deadlines.hpp>.
#pragma once

#include <utility>

#include <pinion/base/outcome.hpp>
#include <pinion/distributed/master/deadlines.hpp>
#include <pinion/rpc/transport/asio_io.hpp>

namespace pinion { inline namespace v0 { namespace distributed {

PINION_DECL deadlines::entry deadlines::add(time_point when, std::function<void()> late) {
  std::unique_lock hold(mutex_);
  const entry made{when, ++added_};
  if (closed_) return made;
  waiting_.emplace(made, std::move(late));
  if (sleeps_until_ && *sleeps_until_ <= when) return made;
  const auto before = std::exchange(sleeps_until_, when);
  hold.unlock();
  try {
    before ? wake() : net_.spawn(watch(shared_from_this()));
  } catch (...) {
    hold.lock();
    waiting_.erase(made);
    if (!before) sleeps_until_.reset();
    throw;
  }
  return made;
}

PINION_DECL void deadlines::remove(const entry& e) {
  std::function<void()> gone;
  std::lock_guard hold(mutex_);
  const auto at = waiting_.find(e);
  if (at == waiting_.end()) return;
  gone.swap(at->second);  // released without the lock
  waiting_.erase(at);
}

PINION_DECL void deadlines::close() {
  {
    std::lock_guard hold(mutex_);
    closed_ = true;
    waiting_.clear();
  }
  wake();
}

PINION_DECL rpc::awaitable<void> deadlines::watch(std::shared_ptr<deadlines> self) {
  timer_ = self->net_.make_timer();
  while (const auto until = self->next()) {
    co_await timer_->wait_until(*until);
    for (const auto& [when, late] : self->take_late()) static_cast<void>(outcome_of(late));
  }
}

PINION_DECL std::optional<time_point> deadlines::next() {
  std::lock_guard hold(mutex_);
  sleeps_until_.reset();
  if (!waiting_.empty()) sleeps_until_ = waiting_.begin()->first.first;
  return sleeps_until_;
}

PINION_DECL std::map<deadlines::entry, std::function<void()>> deadlines::take_late() {
  std::map<entry, std::function<void()>> late;
  const auto now = net_.now();
  std::lock_guard hold(mutex_);
  while (!waiting_.empty() && waiting_.begin()->first.first <= now) late.insert(waiting_.extract(waiting_.begin()));
  return late;
}

PINION_DECL void deadlines::wake() {
  net_.post([self = shared_from_this()] {
    if (self->timer_) self->timer_->cancel();
  });
}

}}}  // namespace pinion::v0::distributed
