// The replicas that take part in training: those expected, and those that left or were not heard of for long.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
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

  // Registers replica `wanted` and returns its number. With -1 it is the first one that never entered or has left;
  // where there is none, the one not heard of for longest, except for those in `excused`.
  std::int64_t enter(std::int64_t wanted, const std::set<std::int64_t>& excused) {
    if (wanted < 0) wanted = vacancy(excused);
    hear(wanted);
    entered_.insert(wanted);
    return wanted;
  }
  // Notes that a replica is alive, even if it was taken to have left. Throws invalid_argument for a number out of
  // range.
  void hear(std::int64_t replica) {
    expect(replica);
    heard_[static_cast<std::size_t>(replica)] = clock::now();
    gone_.erase(replica);
  }
  void leave(std::int64_t replica) {
    expect(replica);
    gone_.insert(replica);
  }
  // Notes that all replicas not heard of since that time have left, except for those in `excused`.
  void expire(clock::time_point since, const std::set<std::int64_t>& excused) {
    for (std::int64_t r = 0; r < total(); ++r)
      if (heard_[static_cast<std::size_t>(r)] < since && excused.count(r) == 0) gone_.insert(r);
  }

 private:
  void expect(std::int64_t replica) const {
    if (replica < 0 || replica >= total())
      throw error(errc::invalid_argument, "replica " + std::to_string(replica) + " is not one of the " +
                                              std::to_string(total()) + " that were announced");
  }
  std::int64_t vacancy(const std::set<std::int64_t>& excused) const {
    std::int64_t oldest = -1;
    for (std::int64_t r = 0; r < total(); ++r) {
      if (entered_.count(r) == 0 || !is_live(r)) return r;
      const auto heard = [this](std::int64_t i) { return heard_[static_cast<std::size_t>(i)]; };
      if (excused.count(r) == 0 && (oldest < 0 || heard(r) < heard(oldest))) oldest = r;
    }
    return std::max<std::int64_t>(oldest, 0);
  }

  std::vector<clock::time_point> heard_;
  std::set<std::int64_t> gone_, entered_;
};

}}}  // namespace pinion::v0::state
