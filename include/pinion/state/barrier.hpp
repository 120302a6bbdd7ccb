// The barrier at which replicas meet once per step: it decides which replicas count for the step, and when it ends.
//
// Invariants
//   1. Whether a replica's step counts is decided once, for all its gradients.
//   2. A round ends when enough replicas have committed: replicas_to_aggregate of them, or all that are left. A
//      replica that leaves, or is not heard of, lowers that number.
//   3. A replica that commits waits until the round's update has been made, unless the round needs another gradient of
//      it. Waiting replicas, and one gradient from each working replica, are always enough to fill the round.
//   4. Once stopped, no update is made until the chief begins anew: an update under way does not undo a stop.
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

struct barrier_counters {
  std::int64_t accepted = 0, dropped = 0, rounds = 0;
  lag_counts staleness;  // of commits, in steps
};

// The answer to a commit: the step to go on with, and whether the gradients count.
struct commit_answer {
  std::int64_t step;
  bool accepted;
};

// The commits of one replica that wait for the round's update.
struct waiting_commits : waiters<commit_answer> {
  bool accepted = false;
};

// The barrier: a meeting whose replicas wait for each other's gradients.
class barrier final : public meeting<waiting_commits, barrier_counters> {
 public:
  using tickets = std::vector<std::int64_t>;
  // A full round: the step to apply, and the tickets that count, in order of the replicas.
  struct full_round {
    std::int64_t step;
    barrier::tickets tickets;
  };
  using committed = completion<commit_answer>;
  using taken = completion<full_round>;

  barrier(std::string name, std::int64_t aggregate, std::int64_t total)
      : meeting("barrier", std::move(name), total), aggregate_(aggregate) {}

  bool agrees(std::int64_t aggregate, std::int64_t total) const {
    return aggregate == aggregate_ && total == members_.total();
  }

  struct place {
    std::int64_t step, replica;
    bool ended;
  };
  // Registers a replica of a task, which may be back after it left. `wanted` is its number, or -1 for any that is free.
  // Returns the step that it has to work on, its number, and whether training has ended.
  place enter(std::int64_t wanted, const std::string& task) {
    std::lock_guard hold(mutex_);
    const std::int64_t replica = let_in(wanted, task);
    return {step_, replica, ended_};
  }
  // Reports that a replica's gradients of a step have arrived at the accumulators under this ticket. `done` gets
  // out_of_range where training has ended.
  void commit(std::int64_t replica, std::int64_t ticket, std::int64_t step, cancellation* stop, committed done) {
    change([&](calls& later) {
      hear(replica);
      if (ended_) {
        later.push_back([done, e = training_ended()] { done(e); });
        return;
      }
      counters_.staleness.add(step_ - step);
      const bool accepted = step == step_ && !sealed_;
      ++(accepted ? counters_.accepted : counters_.dropped);
      if (step != step_) {
        later.push_back([done, now = step_] { done(commit_answer{now, false}); });
        return;
      }
      if (accepted) join_round(replica, ticket);
      wait(replica, stop, std::move(done), later).accepted = accepted;
      if (accepted) go_on(later);
    });
  }
  // Waits for a full round. `done` gets cancelled where updates were stopped.
  void take(cancellation* stop, taken done) {
    change([&](calls& later) {
      if (stopped_) {
        later.push_back([done = std::move(done), e = updates_stopped()] { done(e); });
        return;
      }
      takers_.add(shared_from_this(), mutex_, stop, std::move(done), title_, later);
      seal_if_full(later);
    });
  }
  // Reports that the update has been made, and lets all waiting replicas go on with that step. With `begins` the chief
  // starts training, and no update came before.
  void advance(std::int64_t step, bool begins) {
    change([&](calls& later) {
      if (sealed_) ++counters_.rounds;
      step_ = step;
      sealed_ = false;
      if (begins) stopped_ = ended_ = false;
      round_.clear();
      for (auto& [replica, commits] : std::exchange(waiting_, {}))
        commits->release_all(later, {step, commits->accepted});
    });
  }
  // Stops updates: every take, waiting or future, ends with cancelled. With `ended` every waiting or future commit ends
  // with out_of_range. Both hold until the chief begins anew.
  void stop(bool ended) {
    change([&](calls& later) {
      stopped_ = true;
      takers_.fail_all(later, updates_stopped());
      ended_ = ended_ || ended;
      if (!ended_) return;
      for (auto& [replica, commits] : std::exchange(waiting_, {})) commits->fail_all(later, training_ended());
    });
  }

 private:
  // ---- with the lock held

  void go_on(calls& later) override {
    seal_if_full(later);
    while (lacks_gradients()) let_one_go(later);
  }
  std::optional<time::time_point> waits_since() const override {
    if (round_.empty() || sealed_) return {};
    return opened_;
  }
  bool waits_for(std::int64_t, std::int64_t) const override { return !sealed_ && !full(); }
  // Adds a gradient to the round. A second push under the same ticket replaces the first.
  void join_round(std::int64_t replica, std::int64_t ticket) {
    if (round_.empty()) opened_ = time::now();
    const std::pair mine(replica, ticket);
    if (std::find(round_.begin(), round_.end(), mine) == round_.end()) round_.push_back(mine);
  }
  error updates_stopped() const { return error(errc::cancelled, "the updates at " + title_ + " were stopped"); }
  error training_ended() const {
    return error(errc::out_of_range,
                 "training has ended at step " + std::to_string(step_) + ": " + title_ + " was stopped by the chief");
  }
  // The number of commits that a round takes.
  std::int64_t needed() const {
    const std::int64_t live = members_.live(), total = members_.total();
    if (total >= aggregate_) return std::min(aggregate_, live);
    return (aggregate_ * live + total - 1) / total;
  }
  bool full() const { return !round_.empty() && static_cast<std::int64_t>(round_.size()) >= needed(); }
  // True where replicas wait for a round that the working replicas cannot fill.
  bool lacks_gradients() const {
    if (sealed_ || round_.empty() || full()) return false;
    const auto waiting = who_waits();
    const auto live = [this](std::int64_t replica) { return members_.is_live(replica); };
    const std::int64_t at_work = members_.live() - std::count_if(waiting.begin(), waiting.end(), live);
    return !waiting.empty() && static_cast<std::int64_t>(round_.size()) + at_work < needed();
  }
  // Lets the waiting replica with the fewest gradients in the round go on, to compute another.
  void let_one_go(calls& later) {
    const auto given = [this](std::int64_t replica) {
      return std::count_if(round_.begin(), round_.end(), [&](const auto& one) { return one.first == replica; });
    };
    const auto waiting = who_waits();
    const std::int64_t replica = *std::min_element(waiting.begin(), waiting.end(),
                                                   [&](std::int64_t a, std::int64_t b) { return given(a) < given(b); });
    waiting_.at(replica)->release_all(later, {step_, true});
  }
  void seal_if_full(calls& later) {
    if (sealed_ || takers_.empty() || !full()) return;
    sealed_ = true;
    std::sort(round_.begin(), round_.end());
    tickets all;
    for (const auto& [replica, ticket] : round_) all.push_back(ticket);
    takers_.release_first(later, {step_, std::move(all)});
  }

  const std::int64_t aggregate_;
  std::int64_t step_ = 0;
  bool sealed_ = false;   // the round's update is being made
  bool stopped_ = false;  // no updates until the chief begins anew
  bool ended_ = false;    // training has ended: replicas do not wait
  time::time_point opened_{};
  std::vector<std::pair<std::int64_t, std::int64_t>> round_;  // replica, ticket
  waiters<full_round> takers_;
};

}}}  // namespace pinion::v0::state
