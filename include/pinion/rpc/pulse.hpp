// The signs of life of one lane, which is asked for one each heartbeat.
//
// An answer cannot come before the peer has taken what was sent before the question. So a peer that takes bytes lives,
// however large the value is that they belong to.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include <pinion/base/config.hpp>
#include <pinion/rpc/connection.hpp>
#include <pinion/rpc/transport/network.hpp>

namespace pinion { inline namespace v0 { namespace rpc {

inline constexpr method ping_method = 0;

// Used by the network's thread, by the one that watches the lane. Shared with the answers that are to come.
class pulse : public std::enable_shared_from_this<pulse> {
 public:
  explicit pulse(std::shared_ptr<connection> lane) : lane_(std::move(lane)) {}

  // Sends a question that any peer answers.
  void ask();
  // Notes whether the peer has taken bytes since the last look.
  void look(time_point now);
  // The time since the last sign of life.
  duration silence(time_point now) const;
  // Counts now as a sign of life, after a time in which this process could hear nothing.
  void forgive() { lane_->in().forgive(); }

 private:
  void answered();

  const std::shared_ptr<connection> lane_;
  int unanswered_ = 0;
  std::uint64_t owed_ = 0;      // how far the peer must read to answer the first of them
  std::uint64_t progress_ = 0;  // of the lane at the last look
  time_point moved_{};          // when the lane was last seen to make progress, short of owed_
};

}}}  // namespace pinion::v0::rpc

#if PINION_HEADER_ONLY
#include <pinion/rpc/pulse.ipp>
#endif
