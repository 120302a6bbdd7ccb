// Bounded staleness: no replica gets more than a bound of steps ahead of the slowest one. Source: Ho, Cipar, Cui, Lee,
// Kim, Gibbons, Gibson, Ganger, Xing, "More effective distributed ML via a stale synchronous parallel parameter
// server", NIPS 2013.
#pragma once

#include <algorithm>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <pinion/state/lag_counts.hpp>
#include <pinion/state/meeting.hpp>

namespace pinion { inline namespace v0 { namespace state {

struct clock_counters {
  std::int64_t steps = 0, waits = 0;  // sums over all replicas; `waits` counts steps that had to wait
  lag_counts ahead;                   // of steps, when they ended
};

// The ticks of one replica that wait until it is at most `bound` steps ahead.
struct waiting_ticks : waiters<std::int64_t> {
  std::int64_t bound = 0;
};

// The clock of each replica, which counts its steps: a meeting at which the fast replicas wait for the slowest.
class clock final : public meeting<waiting_ticks, clock_counters> {
 public:
  using ticked = completion<std::int64_t>;  // takes the number of steps that the replica is ahead

  clock(std::string name, std::int64_t total)
      : meeting("clock", std::move(name), total), clocks_(static_cast<std::size_t>(total)) {}

  bool agrees(std::int64_t total) const { return total == members_.total(); }

  // Registers a replica of a task, which may be back after it left, and returns its number. Its clock is set to that of
  // the slowest other replica, if it is behind.
  std::int64_t enter(std::int64_t wanted, const std::string& task) {
    std::lock_guard hold(mutex_);
    const std::int64_t slowest = this->slowest(), replica = let_in(wanted, task);
    at(replica) = std::max(at(replica), slowest);
    return replica;
  }
  // Counts a step of a replica, and waits until the replica is at most `bound` steps ahead of the slowest one.
  void tick(std::int64_t replica, std::int64_t bound, cancellation* stop, ticked done) {
    change([&](calls& later) {
      const bool back = !members_.is_live(replica);
      const std::int64_t before = slowest();
      hear(replica);
      if (back) at(replica) = std::max(at(replica), before);
      ++at(replica);
      ++counters_.steps;
      go_on(later);
      const std::int64_t ahead = at(replica) - slowest();
      if (ahead <= bound) {
        counters_.ahead.add(ahead);
        later.push_back([done, ahead] { done(ahead); });
        return;
      }
      ++counters_.waits;
      if (who_waits().empty()) first_waits_since_ = time::now();
      wait(replica, stop, std::move(done), later).bound = bound;
    });
  }

 private:
  // ---- with the lock held

  void go_on(calls& later) override {
    const std::int64_t slowest = this->slowest();
    for (auto& [replica, ticks] : waiting_) {
      const std::int64_t ahead = std::max<std::int64_t>(0, at(replica) - slowest);
      if (ahead > ticks->bound) continue;
      counters_.ahead.add(ahead, static_cast<std::int64_t>(ticks->size()));
      ticks->release_all(later, ahead);
    }
  }
  std::optional<time::time_point> waits_since() const override {
    if (who_waits().empty()) return {};
    return first_waits_since_;
  }
  bool waits_for(std::int64_t waiting, std::int64_t other) const override {
    const auto clock_of = [this](std::int64_t r) { return clocks_[static_cast<std::size_t>(r)]; };
    return clock_of(waiting) - clock_of(other) > waiting_.at(waiting)->bound;
  }
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

  std::vector<std::int64_t> clocks_;
  time::time_point first_waits_since_{};
};

}}}  // namespace pinion::v0::state
