// One connection after its handshake: many requests in flight, in both directions.
//
// Invariants
//   1. Frames leave in the order of send(); a frame is never torn or interleaved with another.
//   2. A request gets exactly one answer: the peer's, or the reason for which the connection closed. It is sent at most
//      once; nothing is ever sent again.
//   3. What arrives is read, opened and delivered in the network's thread, one message after the other; an opener may
//      refuse a message by throwing, which closes the connection with that reason.
//   4. Nothing is allocated for a length that a peer announced before it is checked, and control parts grow only as
//      fast as they arrive.
#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/rpc/frame.hpp>
#include <pinion/rpc/message.hpp>
#include <pinion/rpc/network.hpp>
#include <pinion/rpc/traffic.hpp>

namespace pinion { inline namespace v0 { namespace rpc {

// A message on its way in: opened when its control part is there, its rooms filled with the payload, then delivered.
class incoming {
 public:
  virtual ~incoming() = default;
  virtual std::span<const std::span<std::byte>> rooms() const = 0;  // together as long as the payload
  virtual void arrived() = 0;
};

// The part of a message before its payload. A reader who comes later needs a copy of the text: the view is gone then.
struct envelope {
  rpc::method method;
  std::string_view control;
  std::uint64_t payload;
  std::string* text = nullptr;  // of the control part
};

class connection;

// Answers one request: once, from any thread, or never if the connection is gone. One that is let go without an answer
// answers that the request was dropped.
class responder {
 public:
  responder() = default;
  responder(std::weak_ptr<connection> to, std::uint64_t id) : to_(std::move(to)), id_(id) {}
  responder(responder&& o) noexcept : to_(std::move(o.to_)), id_(std::exchange(o.id_, 0)) {}
  responder& operator=(responder&& o) noexcept;
  ~responder();
  void reply(message&& answer);
  void fail(const error& why);
  // For a request that could not be read: its connection closes, and its peer is told why.
  void hang_up(const error& why);

 private:
  std::weak_ptr<connection> to_;
  std::uint64_t id_ = 0;
};

// What becomes of an answer.
struct reply_handler {
  std::function<std::unique_ptr<incoming>(const envelope&)> open;
  std::function<void(const error&)> failed;
};

// What a connection tells its owner.
struct connection_handlers {
  std::function<std::unique_ptr<incoming>(const envelope&, responder)> request;
  std::function<std::unique_ptr<incoming>(const envelope&)> notice;
  std::function<void(const error&)> closed;                                           // once, in the network's thread
  std::function<error(const error&)> explain = [](const error& why) { return why; };  // what requests fail with then
};

// Shared by its owner and by its own coroutines, which its network outlives. send, request and close may be called in
// any thread.
class connection : public std::enable_shared_from_this<connection> {
 public:
  connection(rpc::network& net, std::unique_ptr<byte_stream> stream, std::shared_ptr<rpc::traffic> count,
             const limits& allowed = {})
      : net_(net), stream_(std::move(stream)), traffic_(std::move(count)), limits_(allowed) {}

  // Reads from now on. In the network's thread.
  void start(connection_handlers handlers);

  enum class urgency {
    now,    // tried at once, in the calling thread
    batch,  // by the network's thread, together with what else is there by then
  };

  void notify(rpc::method what, rpc::message&& message, urgency when = urgency::batch);
  // Fails at once when the connection is closed, or the message is more than a peer takes.
  void request(rpc::method what, rpc::message&& message, reply_handler handler);

  // Tells the peer why, if it still can, and closes.
  void close(const error& why);
  // At once, without a word or with one, in the network's thread.
  void abandon(const error& why) { close_now(why, false); }
  void leave(const error& why) { close_now(why, true); }
  // When something last arrived.
  time_point last_heard() const { return time_point(duration(heard_.load(std::memory_order_relaxed))); }
  // After a pause of this process itself, in which nothing could be heard.
  void forgive() { heard_.store(net_.now().time_since_epoch().count(), std::memory_order_relaxed); }

 private:
  friend class responder;

  struct queued {
    frame_header header;
    rpc::message message;
    std::size_t written = 0;
  };

  // ---- out

  void send(frame_header header, rpc::message&& message, urgency when);

  // With the lock.
  bool all_written_now();

  static std::size_t size_of(const queued& q);
  // What is left of it.
  static std::vector<asio::const_buffer> buffers_of(const queued& q);
  static void append_buffers(std::vector<asio::const_buffer>& parts, const queued& q);
  void count_written(std::size_t bytes);

  awaitable<void> write(std::shared_ptr<connection> self);

  // ---- in

  awaitable<void> read(std::shared_ptr<connection> self);

  // Small things come through a buffer, so that many of them cost one read; the rest of a large one is read in place.
  awaitable<void> fill(std::span<std::byte> into);
  awaitable<void> skip(std::uint64_t bytes);
  void heard(std::size_t n);

  // Null for what nobody waits for.
  std::unique_ptr<incoming> open(const frame_header& h, std::string& control);
  static std::unique_ptr<incoming> checked(std::unique_ptr<incoming> message, const frame_header& h);
  // An answer that cannot be read, or of which not all arrives, fails its request too.
  std::unique_ptr<incoming> open_reply(reply_handler& handler, const envelope& e, const frame_header& h);
  void fail_by(reply_handler& handler, const std::string& control);
  std::optional<reply_handler> take_waiting(std::uint64_t id);

  // ---- end

  // In the network's thread.
  void close_now(const error& why, bool tell);
  void say_goodbye(const error& why);

  rpc::network& net_;
  const std::unique_ptr<byte_stream> stream_;
  const std::shared_ptr<rpc::traffic> traffic_;
  const limits limits_;
  connection_handlers handlers_;
  std::atomic<duration::rep> heard_{0};

  std::vector<std::byte> inbox_ = std::vector<std::byte>(std::size_t{1} << 16);
  std::size_t at_ = 0, end_ = 0;
  bool over_ = false;
  std::optional<reply_handler> half_answered_;  // of the request whose answer is being read

  mutable std::mutex mutex_;  // never held while a handler is called
  std::deque<queued> queue_;
  bool writing_ = false;
  std::uint64_t last_id_ = 0;
  std::map<std::uint64_t, reply_handler> waiting_;
  std::optional<error> closed_;
};

}}}  // namespace pinion::v0::rpc

#if PINION_HEADER_ONLY
#include <pinion/rpc/connection.ipp>
#endif
