// Bodies of <pinion/distributed/server/calls.hpp>.
#pragma once

#include <utility>

#include <pinion/distributed/server/calls.hpp>

namespace pinion { inline namespace v0 { namespace distributed {

PINION_DECL void calls::begin(std::function<void()> call) {
  std::lock_guard hold(mutex_);
  under_way_.remove_if([](one& c) {
    if (!c.ended) return false;
    c.thread.join();
    return true;
  });
  one& c = under_way_.emplace_back();
  c.thread = std::thread([this, &c, call = std::move(call)]() mutable {
    call();
    call = nullptr;
    std::lock_guard held(mutex_);
    c.ended = true;
    ended_.notify_all();
  });
}

PINION_DECL bool calls::join(time_point until) {
  std::list<one> over;
  std::unique_lock hold(mutex_);
  const bool all = ended_.wait_until(hold, until, [this] { return none_runs(); });
  for (auto at = under_way_.begin(); at != under_way_.end();) {
    const auto next = std::next(at);
    if (at->ended) over.splice(over.end(), under_way_, at);
    at = next;
  }
  hold.unlock();
  for (one& c : over) c.thread.join();
  return all;
}

PINION_DECL bool calls::none_runs() const {
  for (const one& c : under_way_)
    if (!c.ended) return false;
  return true;
}

}}}  // namespace pinion::v0::distributed
