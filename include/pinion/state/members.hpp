// The replicas that take part in training: those expected, and those that left or were not heard of for long.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <pinion/base/error.hpp>

namespace pinion { inline namespace v0 { namespace state {

// The replicas 0, 1, ..., total - 1. For one thread at a time: its owner locks.
class replica_members {
 public:
  using clock = std::chrono::steady_clock;

  explicit replica_members(std::int64_t total) : heard_(static_cast<std::size_t>(total), clock::now()) {}

  std::int64_t total() const { return static_cast<std::int64_t>(heard_.size()); }
  std::int64_t live() const { return total() - static_cast<std::int64_t>(gone_.size()); }
  bool is_live(std::int64_t replica) const { return gone_.count(replica) == 0; }

  // The time since a replica was last heard, or since there are any.
  clock::duration silence(std::int64_t replica, clock::time_point now) const { return now - heard(replica); }
  // The replicas that have entered and not left, with the tasks that they said they run in.
  std::map<std::int64_t, std::string> there() const {
    auto all = tasks_;
    std::erase_if(all, [this](const auto& one) { return !is_live(one.first); });
    return all;
  }
  // Returns a text such as "replica 1 (/job:worker/replica:0/task:1)".
  std::string title(std::int64_t replica) const {
    const auto known = tasks_.find(replica);
    const std::string task = known == tasks_.end() ? "which has not come so far" : known->second;
    return "replica " + std::to_string(replica) + (task.empty() ? "" : " (" + task + ")");
  }

  // Returns the number for a replica that wants this one. With -1 it is the first one that never entered or has left;
  // where there is none, the one not heard of for longest, except for those in `excused`. Throws invalid_argument for a
  // number out of range.
  std::int64_t number_for(std::int64_t wanted, const std::set<std::int64_t>& excused) const {
    if (wanted < 0) return vacancy(excused);
    expect(wanted);
    return wanted;
  }
  // Notes that a replica is one of a task.
  void enter(std::int64_t replica, const std::string& task) { tasks_[replica] = task; }
  // Notes that a replica is alive, even if it was taken to have left. Returns whether it had been dropped. Throws
  // invalid_argument for a number out of range.
  bool hear(std::int64_t replica) {
    expect(replica);
    heard_[static_cast<std::size_t>(replica)] = clock::now();
    gone_.erase(replica);
    return dropped_.erase(replica) > 0;
  }
  void leave(std::int64_t replica) {
    expect(replica);
    gone_.insert(replica);
    dropped_.erase(replica);
  }
  // Notes that all replicas not heard of since that time have left, except for those in `excused`. Returns them.
  std::set<std::int64_t> expire(clock::time_point since, const std::set<std::int64_t>& excused) {
    return drop_if([&](std::int64_t r) { return heard(r) < since && excused.count(r) == 0; });
  }
  // Notes that the replicas of a task have left. Returns them.
  std::set<std::int64_t> lose(const std::string& task) {
    return drop_if([&](std::int64_t r) {
      const auto known = tasks_.find(r);
      return known != tasks_.end() && known->second == task;
    });
  }

  // Throws invalid_argument for a number out of range.
  void expect(std::int64_t replica) const {
    if (replica < 0 || replica >= total())
      throw error(errc::invalid_argument, "replica " + std::to_string(replica) + " is not one of the " +
                                              std::to_string(total()) + " that were announced");
  }

 private:
  clock::time_point heard(std::int64_t replica) const { return heard_[static_cast<std::size_t>(replica)]; }
  template <class Which>
  std::set<std::int64_t> drop_if(const Which& which) {
    std::set<std::int64_t> now;
    for (std::int64_t r = 0; r < total(); ++r)
      if (is_live(r) && which(r)) now.insert(r);
    gone_.insert(now.begin(), now.end());
    dropped_.insert(now.begin(), now.end());
    return now;
  }
  std::int64_t vacancy(const std::set<std::int64_t>& excused) const {
    std::int64_t oldest = -1;
    for (std::int64_t r = 0; r < total(); ++r) {
      if (tasks_.count(r) == 0 || !is_live(r)) return r;
      if (excused.count(r) == 0 && (oldest < 0 || heard(r) < heard(oldest))) oldest = r;
    }
    return std::max<std::int64_t>(oldest, 0);
  }

  std::vector<clock::time_point> heard_;
  std::set<std::int64_t> gone_;                // they left, or were dropped
  std::set<std::int64_t> dropped_;             // without a word of theirs
  std::map<std::int64_t, std::string> tasks_;  // of those that ever entered; "" where it is not known
};

}}}  // namespace pinion::v0::state
