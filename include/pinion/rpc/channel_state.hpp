// The state of a channel: where its peer is, whether the channel is up, and why not.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include <pinion/base/config.hpp>
#include <pinion/base/error.hpp>
#include <pinion/rpc/connection.hpp>
#include <pinion/rpc/handshake.hpp>
#include <pinion/rpc/task_state.hpp>

namespace pinion { inline namespace v0 { namespace rpc {

// A place where a peer may be. `is_told`: another than the peer says so, who may be wrong, or lie; what answers there
// ends nobody's wait while there is another place, and no such place is tried instead of one that is not.
struct peer_place {
  std::string address = {};
  bool is_told = false;
};

// Two connections with a peer, which come and go together.
struct lane_pair {
  std::shared_ptr<connection> data, control;

  time_point last_heard() const { return std::max(data->in().last_heard(), control->in().last_heard()); }
};

// The state of a channel. Owned by it. Thread-safe, each function by itself.
class channel_state {
 public:
  // `peer` is the name of the expected task; "" accepts any.
  channel_state(std::string address, std::string peer) : target_{std::move(address)}, peer_(std::move(peer)) {}

  // ---- the peer

  // The name of the task that is expected, or has answered; "" so far.
  std::string peer() const;
  // The place of the next attempt. One attempt has one place, though others may say meanwhile where the peer is.
  peer_place target() const;
  bool has_other() const;
  // Notes where the peer is reached, as channel::moved_to() says.
  void moved_to(const peer_place& first, const peer_place& otherwise);
  // Has the next attempt tried the other address, if there is one. Returns whether there is.
  bool switch_to_other();

  // ---- attempts to come up

  void begin_attempts();
  void note_failure(const error& e);
  std::string last_failure() const;

  // ---- up or down

  bool up() const;
  std::shared_ptr<connection> connection_of(lane by) const;
  lane_pair lanes() const;  // null: the channel is down
  std::uint64_t incarnation() const;
  std::uint64_t generation() const;
  error why_down() const;
  // The peer as this side knows it; `tls`: its values come by TLS.
  task_view view(const network& net, bool tls) const;
  void came_up(lane_pair lanes, std::string peer, std::uint64_t incarnation) noexcept;
  // Returns the connections that the channel had, which the caller abandons; null: it was down.
  lane_pair go_down(const error& why, task_state as);

 private:
  mutable std::mutex mutex_;
  peer_place target_;
  peer_place next_;   // where the peer has moved while the channel is up
  peer_place other_;  // where it may be, too
  std::string peer_;
  std::uint64_t incarnation_ = 0, generation_ = 0;
  lane_pair lanes_;
  std::optional<error> why_down_;
  std::optional<error> failed_;  // of the last attempt to come up, while there is one
  task_state left_ = task_state::joining;
  std::optional<time_point> heard_;  // at last, before the channel went down
};

}}}  // namespace pinion::v0::rpc

#if PINION_HEADER_ONLY
#include <pinion/rpc/channel_state.ipp>
#endif
