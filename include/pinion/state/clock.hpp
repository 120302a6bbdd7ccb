// Bounded staleness: no replica gets more than a bound of steps ahead of the slowest one. Source: Ho, Cipar, Cui, Lee,
// Kim, Gibbons, Gibson, Ganger, Xing, "More effective distributed ML via a stale synchronous parallel parameter
// server", NIPS 2013.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <pinion/opkit/kernel.hpp>
#include <pinion/state/lag_counts.hpp>
#include <pinion/state/members.hpp>
#include <pinion/state/waiter.hpp>

namespace pinion { inline namespace v0 { namespace op {

struct clock_counters {
  std::int64_t steps = 0, waits = 0;  // sums over all replicas; `waits` counts steps that had to wait
  lag_counts ahead;                   // of steps, when they ended
};

// The clock of each replica, which counts its steps. Owned by the task's resource manager and by the kernels that use
// it. Thread-safe. A call that waits holds no thread: its `done` is called when it ends, in any thread.
class clock_state final : public resource, public std::enable_shared_from_this<clock_state> {
 public:
  using ticked = completion<std::int64_t>;  // takes the number of steps that the replica is ahead

  clock_state(std::string name, std::int64_t total)
      : name_(std::move(name)), members_(total), clocks_(static_cast<std::size_t>(total)) {}

  const std::string& name() const { return name_; }
  bool agrees(std::int64_t total) const { return total == members_.total(); }

  // Registers a replica, which may be back after it left, and returns its number. Its clock is set to that of the
  // slowest other replica, if it is behind.
  std::int64_t enter(std::int64_t wanted) {
    std::lock_guard hold(mutex_);
    const std::int64_t slowest = this->slowest(), replica = members_.enter(wanted, who_waits());
    at(replica) = std::max(at(replica), slowest);
    return replica;
  }
  // Counts a step of a replica, and waits until the replica is at most `bound` steps ahead of the slowest one.
  void tick(std::int64_t replica, std::int64_t bound, cancellation* stop, ticked done) {
    calls later;
    {
      std::lock_guard hold(mutex_);
      const bool back = !members_.is_live(replica);
      const std::int64_t before = slowest();
      members_.hear(replica);
      if (back) at(replica) = std::max(at(replica), before);
      ++at(replica);
      ++counters_.steps;
      release(later);
      if (const std::int64_t ahead = at(replica) - slowest(); ahead <= bound) {
        counters_.ahead.add(ahead);
        later.push_back([done, ahead] { done(ahead); });
      } else {
        ++counters_.waits;
        if (who_waits().empty()) waits_since_ = replica_members::clock::now();
        auto& w = waiting_[replica];
        if (!w.list) w.list = std::make_shared<waiters<std::int64_t>>();
        w.bound = bound;
        w.list->add(std::pair(shared_from_this(), w.list), mutex_, stop, std::move(done), "clock '" + name_ + "'",
                    later);
      }
    }
    tell(later);
  }
  void leave(std::int64_t replica) {
    change([&] { members_.leave(replica); });
  }
  // Removes replicas for which others have waited longer than `patience`, and which were not heard of in that time.
  void expire(std::chrono::milliseconds patience) {
    change([&] {
      const auto since = replica_members::clock::now() - patience;
      if (who_waits().empty() || waits_since_ > since) return;
      members_.expire(since, who_waits());
    });
  }
  clock_counters counters() const {
    std::lock_guard hold(mutex_);
    return counters_;
  }
  std::int64_t live() const {
    std::lock_guard hold(mutex_);
    return members_.live();
  }

 private:
  using calls = std::vector<std::function<void()>>;
  struct waiting_replica {
    std::int64_t bound = 0;
    std::shared_ptr<waiters<std::int64_t>> list;
  };

  template <class F>
  void change(F&& what) {
    calls later;
    {
      std::lock_guard hold(mutex_);
      what();
      release(later);
    }
    tell(later);
  }
  static void tell(const calls& later) {
    for (const auto& call : later) call();
  }

  // ---- with the lock held

  std::int64_t& at(std::int64_t replica) { return clocks_[static_cast<std::size_t>(replica)]; }
  // The least clock of the replicas that have not left; with none left, the greatest clock.
  std::int64_t slowest() const {
    std::int64_t least = -1, most = 0;
    for (std::int64_t r = 0; r < members_.total(); ++r) {
      const std::int64_t t = clocks_[static_cast<std::size_t>(r)];
      most = std::max(most, t);
      if (members_.is_live(r) && (least < 0 || t < least)) least = t;
    }
    return least < 0 ? most : least;
  }
  std::set<std::int64_t> who_waits() const {
    std::set<std::int64_t> all;
    for (const auto& [replica, w] : waiting_)
      if (!w.list->empty()) all.insert(replica);
    return all;
  }
  void release(calls& later) {
    const std::int64_t slowest = this->slowest();
    for (auto& [replica, w] : waiting_) {
      const std::int64_t ahead = std::max<std::int64_t>(0, at(replica) - slowest);
      if (ahead > w.bound) continue;
      counters_.ahead.add(ahead, static_cast<std::int64_t>(w.list->size()));
      w.list->release_all(later, ahead);
    }
  }

  const std::string name_;
  mutable std::mutex mutex_;
  replica_members members_;
  std::vector<std::int64_t> clocks_;
  replica_members::clock::time_point waits_since_{};
  std::map<std::int64_t, waiting_replica> waiting_;
  clock_counters counters_;
};

}}}  // namespace pinion::v0::op
