// A channel leads to one task: a data lane for values, a control lane for heartbeats and messages that must not wait
// behind values.
//
// Invariants
//   1. Both lanes lead to the same incarnation of the same task, or the channel is down.
//   2. A channel that is up has had a sign of life of each lane within two heartbeats; otherwise it goes down and
//      reports why.
//   3. When it goes down, every pending request fails, then every observer is told, each once.
//   4. It is brought up again only when a caller asks for it, and nothing is sent twice. Attempts come at ever longer
//      intervals, which are drawn, so that the many who lost one task do not all come back at once.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/base/outcome.hpp>
#include <pinion/rpc/channel_state.hpp>
#include <pinion/rpc/connection.hpp>
#include <pinion/rpc/deliveries.hpp>
#include <pinion/rpc/lane_connector.hpp>
#include <pinion/rpc/message.hpp>
#include <pinion/rpc/pulse.hpp>
#include <pinion/rpc/task_state.hpp>
#include <pinion/rpc/waiting_callers.hpp>

namespace pinion { inline namespace v0 { namespace rpc {

// A channel to one task. Shared by its users and by its own coroutines. All public functions except close() may be
// called in any thread; callbacks run in the network's thread.
class channel : public std::enable_shared_from_this<channel> {
 public:
  // `peer` is the name of the expected task; "" accepts any.
  channel(network& net, std::string address, std::string peer, channel_options options)
      : net_(net), options_(std::move(options)), state_(std::move(address), std::move(peer)) {}

  std::string address() const { return state_.target().address; }
  // Notes that the peer is reached elsewhere from now on; while the channel is up, once it is down. Where it is not
  // found there it is looked for at the other place, in alternation, which no number of such notes takes from it.
  void moved_to(const peer_place& first, const peer_place& otherwise) { state_.moved_to(first, otherwise); }
  std::string peer() const;
  // A text for messages, such as "/job:ps/replica:0/task:0 at 127.0.0.1:2221".
  std::string title() const { return peer() + " at " + address(); }
  bool up() const { return state_.up(); }
  // The incarnation of the task at the last connection; 0 before the first.
  std::uint64_t incarnation() const { return state_.incarnation(); }
  // The number of times the channel came up. When it has changed, the peer has dropped what it kept for this client.
  std::uint64_t generation() const { return options_.generations + state_.generation(); }
  // The reason for which the channel is down.
  error why_down() const { return state_.why_down(); }
  // The peer as this side knows it.
  task_view view() const { return state_.view(net_, options_.me.shows.tls != nullptr); }

  // Calls back when the channel is up, or cannot come up. A refused connection is tried again until `until`, without
  // limit if there is none.
  void connect(std::optional<time_point> until, completion<> done);

  void request(rpc::lane by, method m, message&& text, reply_handler handler);
  // Sends a message without an answer; dropped when the channel is down.
  void notify(rpc::lane by, method m, message&& text, urgency when = urgency::batch);

  // Adds what is on its way to the peer. In the network's thread.
  void expect(deliveries& all) const;

  // Calls `down` each time the channel goes down. Returns a number for forget(); one more call may come after that.
  std::uint64_t observe(std::function<void(const error&)> down);
  void forget(std::uint64_t observer);

  // Closes the channel for good. Call it in the network's thread, or post something to the network afterwards and wait
  // for it.
  void close(const error& why);

 private:
  // ---- coming up; in the network's thread

  void connect_here(std::optional<time_point> until, completion<> done);

  awaitable<void> come_up(std::shared_ptr<channel> self);
  awaitable<void> try_to_come_up();
  // Fails waiting callers at their own deadlines, however long an attempt takes.
  awaitable<void> expire(std::shared_ptr<channel> self);
  time_point attempt_limit() const;

  void came_up(reached_lanes lanes);
  // Starts both lanes. Throws the reason if one ends as it begins, before anybody could be told; then both end.
  void begin(connection& data, connection& control, std::uint64_t epoch);
  connection_handlers handlers_of(std::uint64_t epoch);

  // Fails the callers whose deadlines have come.
  void fail_late();

  // ---- being up

  struct pulses {
    std::shared_ptr<pulse> data, control;
  };
  awaitable<void> watch(std::shared_ptr<channel> self, std::uint64_t epoch, pulses lanes);
  awaitable<void> watch_lanes(std::uint64_t epoch, pulses lanes);

  // ---- going down

  error lost(const error& why) const;
  void go_down(const error& why, task_state as);

  network& net_;
  const channel_options options_;
  channel_state state_;

  // Used by the network's thread only.
  lane_connector connector_{net_, options_};
  waiting_callers waiting_;
  std::unique_ptr<rpc::timer> pause_, limit_;
  bool connecting_ = false, expiring_ = false, closed_ = false;
  std::string tried_;  // where the last attempt was made, or is
  std::uint64_t epoch_ = 0;

  std::mutex observing_;  // guards the next two
  std::uint64_t last_observer_ = 0;
  std::map<std::uint64_t, std::function<void(const error&)>> observers_;
};

}}}  // namespace pinion::v0::rpc

#if PINION_HEADER_ONLY
#include <pinion/rpc/channel.ipp>
#endif
