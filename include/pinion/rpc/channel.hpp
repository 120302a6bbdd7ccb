// The way to one task: a data lane for values, a control lane for heartbeats and what must not wait behind values.
//
// Invariants
//   1. Both lanes lead to the same life of the same task, or the channel is down.
//   2. A channel that is up has heard from its peer within two heartbeats; otherwise it goes down and says so.
//   3. When it goes down, every request under way fails, then every observer is told, each once.
//   4. It is never brought up again unless somebody asks: nothing is sent twice.
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
#include <pinion/rpc/connection.hpp>
#include <pinion/rpc/handshake.hpp>
#include <pinion/rpc/message.hpp>

namespace pinion { inline namespace v0 { namespace rpc {

inline constexpr method ping_method = 0;

struct channel_options {
  identity me;                                   // who calls
  duration heartbeat = std::chrono::seconds(1);  // dead after two without a word
  duration reconnect = std::chrono::seconds(5);  // the most that one attempt may take
  limits allowed{};
  std::shared_ptr<rpc::traffic> traffic = std::make_shared<rpc::traffic>();
};

// Shared by those who use it and by its own coroutines. Every public function may be called in any thread; callbacks
// come in the network's.
class channel : public std::enable_shared_from_this<channel> {
 public:
  using finished = std::function<void(const error*)>;

  // `peer` is the name of the task that is expected there; "" takes whoever answers.
  channel(network& net, std::string address, std::string peer, channel_options options)
      : net_(net), address_(std::move(address)), options_(std::move(options)), peer_(std::move(peer)) {}

  const std::string& address() const { return address_; }
  std::string peer() const;
  // "/job:ps/replica:0/task:0 at 127.0.0.1:2221".
  std::string title() const;
  bool up() const;
  // Of the life of the task that it is, or was last, connected with; 0 before that.
  std::uint64_t incarnation() const;
  // How often it came up so far: what a peer kept for this client is gone when this has changed.
  std::uint64_t generation() const;
  // How long the peer has been silent.
  duration silence() const;
  // Why it is not up.
  error why_down() const;

  // Calls back when it is up, or will not be: a refused connection is tried again until `until`, for ever without one.
  void connect(std::optional<time_point> until, finished done);

  void request(rpc::lane by, method m, message&& text, reply_handler handler);
  // Dropped when the channel is down.
  void notify(rpc::lane by, method m, message&& text, connection::urgency when = connection::urgency::batch);

  // Called each time it goes down. Returns a number to forget it by; after forget() it may be called once more.
  std::uint64_t observe(std::function<void(const error&)> down);
  void forget(std::uint64_t observer);

  // For good. In the network's thread, or followed by something posted to it.
  void close(const error& why);

 private:
  struct attempt {
    std::shared_ptr<rpc::connection> connection;
    welcome peer;
  };
  struct waiting {
    time_point since;
    std::optional<time_point> until;
    finished done;
  };

  std::shared_ptr<connection> connection_of(rpc::lane by) const;

  // ---- coming up; in the network's thread

  void connect_here(std::optional<time_point> until, finished done);

  awaitable<void> come_up(std::shared_ptr<channel> self);
  // Each waits until its own time, however long an attempt takes.
  awaitable<void> expire(std::shared_ptr<channel> self);
  // Trying again would not help.
  static bool is_final(const error& e) { return e.code() != errc::unavailable && e.code() != errc::deadline_exceeded; }

  awaitable<void> connect_lanes();
  awaitable<attempt> connect_lane(hello mine);
  time_point attempt_limit() const;

  void came_up(attempt data, attempt control);
  connection_handlers handlers_of(std::uint64_t epoch);

  void fail_waiting(const error& why);
  void fail_late();

  // ---- being up

  awaitable<void> watch(std::shared_ptr<channel> self, std::uint64_t epoch);
  void forgive();
  void ping();
  static std::string seconds(duration d);

  // ---- going down

  error lost(const error& why) const;
  void go_down(const error& why);

  network& net_;
  const std::string address_;
  const channel_options options_;

  // Of the network's thread.
  std::vector<waiting> waiting_;
  std::unique_ptr<rpc::timer> pause_, limit_;
  error no_success_{errc::unavailable, ""};  // what became of the last attempt
  bool connecting_ = false, expiring_ = false, closed_ = false;
  std::uint64_t epoch_ = 0;

  mutable std::mutex mutex_;
  std::string peer_;
  std::uint64_t incarnation_ = 0, generation_ = 0, last_observer_ = 0;
  std::shared_ptr<connection> data_, control_;
  std::optional<error> why_down_;
  std::map<std::uint64_t, std::function<void(const error&)>> observers_;
};

}}}  // namespace pinion::v0::rpc

#if PINION_HEADER_ONLY
#include <pinion/rpc/channel.ipp>
#endif
