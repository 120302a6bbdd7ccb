// Calls that wait at a resource, and whose step may be cancelled meanwhile.
#pragma once

#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <pinion/base/cancellation.hpp>
#include <pinion/base/error.hpp>

namespace pinion { inline namespace v0 { namespace state {

// A list of calls that wait for a result, guarded by its owner's lock. Each is told once, without that lock: the
// functions that end waiting calls collect them in `later`, and the owner makes these calls after it has released the
// lock.
template <class... Result>
class waiters {
 public:
  using done = std::function<void(Result..., const error*)>;
  using calls = std::vector<std::function<void()>>;

  bool empty() const { return list_.empty(); }
  std::size_t size() const { return list_.size(); }

  // Adds a call. Requires: the lock is held. The subscription to `stop` keeps `owner` alive, which owns this list and
  // the lock.
  template <class Owner>
  void add(Owner owner, std::mutex& lock, cancellation* stop, done tell, const std::string& at, calls& later) {
    auto w = std::make_shared<waiter>();
    w->tell = std::move(tell);
    w->stop = stop;
    list_.push_back(w);
    if (!stop) return;
    w->subscription = stop->subscribe([this, owner, &lock, w, at] {
      calls ended;
      {
        std::lock_guard hold(lock);
        if (w->ended) return;
        give_up(w, at, ended);
      }
      for (auto& call : ended) call();
    });
    if (w->subscription == 0) give_up(w, at, later);
  }
  // Ends all calls with a result. Requires: the lock is held.
  void release_all(calls& later, Result... result) {
    for (const auto& w : std::exchange(list_, {})) {
      end(*w);
      later.push_back([w, result...] { w->tell(result..., nullptr); });
    }
  }
  void fail_all(calls& later, const error& why) {
    for (const auto& w : std::exchange(list_, {})) {
      end(*w);
      later.push_back([w, why] { w->tell(Result{}..., &why); });
    }
  }
  void release_first(calls& later, Result... result) {
    const auto w = list_.front();
    list_.pop_front();
    end(*w);
    later.push_back([w, result...] { w->tell(result..., nullptr); });
  }

 private:
  struct waiter {
    done tell;
    cancellation* stop = nullptr;
    std::uint64_t subscription = 0;
    bool ended = false;
  };

  static void end(waiter& w) {
    w.ended = true;
    if (w.subscription != 0) w.stop->unsubscribe(w.subscription);
  }
  void give_up(const std::shared_ptr<waiter>& w, const std::string& at, calls& later) {
    list_.remove(w);
    end(*w);
    later.push_back([w, at] {
      const error e(errc::cancelled, "a wait at " + at + " was cancelled");
      w->tell(Result{}..., &e);
    });
  }

  std::list<std::shared_ptr<waiter>> list_;
};

}}}  // namespace pinion::v0::state
