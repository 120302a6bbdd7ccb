// The credit that one peer has used of what it may push to this task.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

#include <pinion/base/config.hpp>
#include <pinion/rpc/channel.hpp>

namespace pinion { inline namespace v0 { namespace distributed {

// The bytes that one peer has pushed and this task has not yet taken. Credit is returned to it in portions. Shared by
// the exchange and by the values on their way. Thread-safe.
class credit_account {
 public:
  // `back` leads to the peer.
  credit_account(std::shared_ptr<rpc::channel> back, std::uint64_t portion)
      : back_(std::move(back)), portion_(portion) {}

  std::uint64_t held() const { return held_.load(std::memory_order_relaxed); }
  void hold(std::uint64_t bytes) { held_.fetch_add(bytes, std::memory_order_relaxed); }
  // Says that bytes were taken.
  void release(std::uint64_t bytes);

 private:
  const std::shared_ptr<rpc::channel> back_;
  const std::uint64_t portion_;
  std::atomic<std::uint64_t> held_{0}, due_{0};
};

}}}  // namespace pinion::v0::distributed

#if PINION_HEADER_ONLY
#include <pinion/distributed/worker/credit_account.ipp>
#endif
