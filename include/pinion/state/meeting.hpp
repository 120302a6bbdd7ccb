// A resource at which replicas wait for each other: what the barrier and the clock have in common.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <pinion/opkit/kernel.hpp>
#include <pinion/state/members.hpp>
#include <pinion/state/waiter.hpp>

namespace pinion { inline namespace v0 { namespace state {

// The base of such a resource. It owns the lock, the replicas that take part, and the calls of each that wait. `Calls`
// is the list of one replica's calls, a waiters<...>. `Counters` is a value.
//
// Owned by the task's resource manager and by the kernels that use it. Thread-safe. A call that waits holds no thread:
// its `done` is called when it ends, without the lock, in any thread.
template <class Calls, class Counters>
class meeting : public resource, public std::enable_shared_from_this<meeting<Calls, Counters>> {
 public:
  const std::string& name() const { return name_; }
  // The number of replicas that have not left.
  std::int64_t live() const {
    std::lock_guard hold(mutex_);
    return members_.live();
  }
  Counters counters() const {
    std::lock_guard hold(mutex_);
    return counters_;
  }
  // Notes that a replica has left, so that the others do not wait for it. Throws invalid_argument for a number out of
  // range.
  void leave(std::int64_t replica) {
    change([&](calls& later) {
      members_.leave(replica);
      go_on(later);
    });
  }
  // Removes replicas for which others have waited longer than `patience`, and which were not heard of in that time.
  void expire(std::chrono::milliseconds patience) {
    change([&](calls& later) {
      const auto since = time::now() - patience;
      if (const auto waiting = waits_since(); waiting && *waiting <= since) members_.expire(since, who_waits());
      go_on(later);
    });
  }

 protected:
  using calls = typename Calls::calls;
  using time = replica_members::clock;

  // `kind` names the resource in errors: "barrier".
  meeting(const std::string& kind, std::string name, std::int64_t total)
      : name_(std::move(name)), title_(kind + " '" + name_ + "'"), members_(total) {}

  // Runs body(later) with the lock held, and makes the calls that it collected when the lock is released.
  template <class Body>
  void change(Body&& body) {
    calls later;
    {
      std::lock_guard hold(mutex_);
      body(later);
    }
    for (const auto& call : later) call();
  }

  // ---- with the lock held

  // Ends the waiting calls that need not wait any longer.
  virtual void go_on(calls& later) = 0;
  // The time since which replicas have waited for others, if any do.
  virtual std::optional<time::time_point> waits_since() const = 0;

  // Adds a call to a replica's calls that wait, and returns these. A call whose step is cancelled no longer waits.
  Calls& wait(std::int64_t replica, cancellation* stop, typename Calls::done done, calls& later) {
    auto& waiting = waiting_[replica];
    if (!waiting) waiting = std::make_shared<Calls>();
    waiting->add(std::pair(this->shared_from_this(), waiting), mutex_, stop, std::move(done), title_, later);
    return *waiting;
  }
  std::set<std::int64_t> who_waits() const {
    std::set<std::int64_t> all;
    for (const auto& [replica, waiting] : waiting_)
      if (!waiting->empty()) all.insert(replica);
    return all;
  }

  const std::string name_;
  const std::string title_;  // the kind and the name, for errors: "barrier 'sync'"
  mutable std::mutex mutex_;
  replica_members members_;
  std::map<std::int64_t, std::shared_ptr<Calls>> waiting_;
  Counters counters_;
};

}}}  // namespace pinion::v0::state
