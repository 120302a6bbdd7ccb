// The bytes that wait for peers to take them, and the limits to them.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <limits>
#include <memory>
#include <utility>

#include <pinion/base/config.hpp>
#include <pinion/rpc/transport/network.hpp>

namespace pinion { inline namespace v0 { namespace rpc {

// The bytes that wait for all peers of one server. Shared by its connections. Thread-safe.
class backlog_of_all {
 public:
  explicit backlog_of_all(std::uint64_t most) : most_(most) {}

  std::uint64_t bytes() const { return bytes_.load(std::memory_order_relaxed); }
  std::uint64_t most() const { return most_; }
  // An equal part for each connection. One that keeps to it is never refused an answer, whatever waits for others.
  std::uint64_t share() const { return most_ / std::max(connections_.load(std::memory_order_relaxed), 1u); }

 private:
  friend class backlog;
  const std::uint64_t most_;
  std::atomic<std::uint64_t> bytes_{0};
  std::atomic<unsigned> connections_{0};
};

// The bytes that wait for one peer, counted among those of all as long as it lives. Not thread-safe.
class backlog {
 public:
  explicit backlog(std::shared_ptr<backlog_of_all> all = nullptr) : all_(std::move(all)) {
    if (all_) all_->connections_.fetch_add(1, std::memory_order_relaxed);
  }
  backlog(const backlog&) = delete;
  ~backlog() {
    set(0);
    if (all_) all_->connections_.fetch_sub(1, std::memory_order_relaxed);
  }

  std::uint64_t bytes() const { return bytes_; }
  void set(std::uint64_t bytes) {
    if (all_) all_->bytes_.fetch_add(bytes - bytes_, std::memory_order_relaxed);
    bytes_ = bytes;
  }
  bool may_add(std::uint64_t more) const {
    return !all_ || all_->bytes() + more <= all_->most() || bytes_ + more <= all_->share();
  }

 private:
  const std::shared_ptr<backlog_of_all> all_;
  std::uint64_t bytes_ = 0;
};

// The most bytes that may wait for a peer to take them, the memory of their messages counted; how long a peer for which
// more wait may take none of them before it is closed; and how many more may wait, since it has asked for them before.
// A peer that takes none for a quarter of `max_wait` gets no more of these.
struct backlog_limit {
  std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  duration max_wait = std::chrono::seconds(10);
  std::uint64_t asked_before = std::uint64_t{1} << 30;
  std::shared_ptr<backlog_of_all> all = {};  // null: it does not matter what waits for others

  bool is_set() const { return most != backlog_limit{}.most; }
  // The most for one peer among the others.
  std::uint64_t of_one() const { return all ? std::min(most, all->share()) : most; }
};

}}}  // namespace pinion::v0::rpc
