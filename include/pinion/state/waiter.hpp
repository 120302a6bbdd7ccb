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
#include <pinion/base/outcome.hpp>

namespace pinion { inline namespace v0 { namespace state {

// A list of calls that wait for a result, guarded by its owner's lock. Each is told once, without that lock: the
// functions that end waiting calls collect them in `later`, and the owner makes these calls after it has released the
// lock.
template <class Result>
class waiters {
 public:
  using done = completion<Result>;
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
    w->place = list_.insert(list_.end(), w);
    if (!stop) return;
    try {
      w->subscription = stop->subscribe([this, owner, &lock, w, at] {
        calls ended;
        {
          std::lock_guard hold(lock);
          if (w->ended) return;
          give_up(w, at, ended);
        }
        for (auto& call : ended) call();
      });
    } catch (...) {
      list_.erase(w->place);
      throw;
    }
    if (w->subscription == 0) give_up(w, at, later);
  }
  // Ends all calls with a result. Requires: the lock is held.
  void release_all(calls& later, const Result& result) { end_all(later, result); }
  void fail_all(calls& later, const error& why) { end_all(later, why); }
  // Ends the call that has waited longest with a result. Requires: there is one, and the lock is held.
  void release_first(calls& later, Result result) { end(list_.front(), std::move(result), later); }

 private:
  struct waiter;
  using list = std::list<std::shared_ptr<waiter>>;
  struct waiter {
    done tell;
    typename list::iterator place = {};
    cancellation* stop = nullptr;
    std::uint64_t subscription = 0;
    bool ended = false;
  };

  // Changes nothing where there is no memory, and throws.
  void end(std::shared_ptr<waiter> w, outcome<Result> how, calls& later) {
    later.push_back([w, how = std::move(how)]() mutable { w->tell(std::move(how)); });
    w->ended = true;
    list_.erase(w->place);
    if (w->subscription != 0) w->stop->unsubscribe(w->subscription);
  }
  void end_all(calls& later, const outcome<Result>& how) {
    while (!list_.empty()) end(list_.front(), how, later);
  }
  void give_up(const std::shared_ptr<waiter>& w, const std::string& at, calls& later) {
    end(w, error(errc::cancelled, "a wait at " + at + " was cancelled"), later);
  }

  list list_;
};

}}}  // namespace pinion::v0::state
