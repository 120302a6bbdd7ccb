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

#include <pinion/rpc/failure.hpp>
#include <pinion/rpc/frame.hpp>
#include <pinion/rpc/network.hpp>
#include <pinion/rpc/traffic.hpp>

namespace pinion::inline v0::rpc {

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
  responder& operator=(responder&& o) noexcept {
    std::swap(to_, o.to_);
    std::swap(id_, o.id_);
    return *this;
  }
  ~responder() {
    if (id_) fail(error(errc::internal, "the request was dropped without an answer"));
  }
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
  void start(connection_handlers handlers) {
    handlers_ = std::move(handlers);
    heard_ = net_.now().time_since_epoch().count();
    net_.spawn(read(shared_from_this()));
  }

  enum class urgency {
    now,    // tried at once, in the calling thread
    batch,  // by the network's thread, together with what else is there by then
  };

  void notify(rpc::method what, rpc::message&& message, urgency when = urgency::batch) {
    send({.kind = frame_kind::notice, .method = what}, std::move(message), when);
  }
  // Fails at once when the connection is closed, or the message is more than a peer takes.
  void request(rpc::method what, rpc::message&& message, reply_handler handler) {
    if (const auto refused = too_large_to_send(message.control.size(), message.payload_bytes()))
      return handler.failed(*refused);
    std::uint64_t id = 0;
    std::optional<error> closed;
    {
      std::lock_guard hold(mutex_);
      if (closed_)
        closed = closed_;
      else
        waiting_.emplace(id = ++last_id_, std::move(handler));
    }
    if (closed) return handler.failed(*closed);
    traffic::add(traffic_->requests);
    send({.kind = frame_kind::request, .method = what, .id = id}, std::move(message), urgency::now);
  }

  // Tells the peer why, if it still can, and closes.
  void close(const error& why) {
    net_.post([self = shared_from_this(), why] { self->close_now(why, true); });
  }
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

  void send(frame_header header, rpc::message&& message, urgency when) {
    header.control = message.control.size();
    header.payload = message.payload_bytes();
    std::lock_guard hold(mutex_);
    if (closed_) return;
    traffic::add(traffic_->messages_sent);
    queue_.push_back({header, std::move(message)});
    if (writing_) return;  // whoever writes takes it along
    if (when == urgency::now && all_written_now()) return;
    writing_ = true;
    net_.post([self = shared_from_this()] { self->net_.spawn(self->write(self)); });
  }

  // With the lock.
  bool all_written_now() {
    while (!queue_.empty()) {
      queued& q = queue_.front();
      const auto parts = buffers_of(q);
      const std::size_t n = stream_->write_now(parts);
      count_written(n);
      q.written += n;
      if (q.written < size_of(q)) return false;
      queue_.pop_front();
    }
    return true;
  }

  static std::size_t size_of(const queued& q) {
    return static_cast<std::size_t>(sizeof(frame_header) + q.header.control + q.header.payload);
  }
  // What is left of it.
  static std::vector<asio::const_buffer> buffers_of(const queued& q) {
    std::vector<asio::const_buffer> parts;
    append_buffers(parts, q);
    return parts;
  }
  static void append_buffers(std::vector<asio::const_buffer>& parts, const queued& q) {
    std::size_t skip = q.written;
    const auto add = [&](const void* data, std::size_t bytes) {
      const std::size_t gone = std::min(skip, bytes);
      skip -= gone;
      if (bytes > gone) parts.emplace_back(static_cast<const std::byte*>(data) + gone, bytes - gone);
    };
    add(&q.header, sizeof q.header);
    add(q.message.control.data(), q.message.control.size());
    for (const part& p : q.message.parts) add(p.data, p.bytes);
  }
  void count_written(std::size_t bytes) {
    traffic::add(traffic_->bytes_sent, bytes);
    traffic::add(traffic_->writes);
  }

  awaitable<void> write([[maybe_unused]] std::shared_ptr<connection> self) {
    std::optional<error> failed;
    try {
      for (;;) {
        std::deque<queued> batch;
        {
          std::lock_guard hold(mutex_);
          batch.swap(queue_);
          if (batch.empty() || closed_) {
            writing_ = false;
            co_return;
          }
        }
        std::vector<asio::const_buffer> parts;
        std::size_t bytes = 0;
        for (const queued& q : batch) append_buffers(parts, q);
        for (const auto& p : parts) bytes += p.size();
        co_await stream_->write(parts);
        count_written(bytes);
      }
    } catch (...) {
      failed = current_error();
    }
    close_now(*failed, false);
  }

  // ---- in

  awaitable<void> read([[maybe_unused]] std::shared_ptr<connection> self) {
    std::optional<error> failed;
    bool ours = false;  // is it the peer who did something wrong?
    try {
      while (!over_) {
        frame_header h;
        co_await fill({reinterpret_cast<std::byte*>(&h), sizeof h});
        ours = true;
        check(h, limits_);
        ours = false;
        std::string control;
        for (std::uint64_t left = h.control; left > 0;) {
          const auto step = static_cast<std::size_t>(std::min<std::uint64_t>(left, std::uint64_t{1} << 20));
          const std::size_t at = control.size();
          control.resize(at + step);
          co_await fill({reinterpret_cast<std::byte*>(control.data()) + at, step});
          left -= step;
        }
        ours = true;
        const auto message = open(h, control);
        ours = false;
        if (message)
          for (const auto& room : message->rooms()) co_await fill(room);
        else
          co_await skip(h.payload);
        traffic::add(traffic_->messages_received);
        ours = true;
        half_answered_.reset();
        if (message) message->arrived();
        ours = false;
      }
    } catch (...) {
      failed = current_error();
    }
    if (failed) close_now(*failed, ours);
  }

  // Small things come through a buffer, so that many of them cost one read; the rest of a large one is read in place.
  awaitable<void> fill(std::span<std::byte> into) {
    while (!into.empty()) {
      if (at_ < end_) {
        const std::size_t n = std::min(end_ - at_, into.size());
        std::memcpy(into.data(), inbox_.data() + at_, n);
        at_ += n;
        into = into.subspan(n);
      } else if (into.size() >= inbox_.size()) {
        const std::size_t n = co_await stream_->read_some(into);
        heard(n);
        into = into.subspan(n);
      } else {
        end_ = co_await stream_->read_some(inbox_);
        at_ = 0;
        heard(end_);
      }
    }
  }
  awaitable<void> skip(std::uint64_t bytes) {
    std::vector<std::byte> nowhere(static_cast<std::size_t>(std::min<std::uint64_t>(bytes, 1 << 16)));
    while (bytes > 0) {
      const auto n = static_cast<std::size_t>(std::min<std::uint64_t>(bytes, nowhere.size()));
      co_await fill({nowhere.data(), n});
      bytes -= n;
    }
  }
  void heard(std::size_t n) {
    if (over_) throw error(errc::cancelled, "closed here meanwhile");
    if (n == 0) throw error(errc::unavailable, "the peer closed the connection");
    traffic::add(traffic_->bytes_received, n);
    heard_.store(net_.now().time_since_epoch().count(), std::memory_order_relaxed);
  }

  // Null for what nobody waits for.
  std::unique_ptr<incoming> open(const frame_header& h, std::string& control) {
    const envelope e{h.method, control, h.payload, &control};
    switch (h.kind) {
      case frame_kind::request: return checked(handlers_.request(e, responder(weak_from_this(), h.id)), h);
      case frame_kind::notice: return checked(handlers_.notice(e), h);
      case frame_kind::reply:
        if (auto handler = take_waiting(h.id)) return open_reply(*handler, e, h);
        return nullptr;
      case frame_kind::failure:
        if (auto handler = take_waiting(h.id)) fail_by(*handler, control);
        return nullptr;
      case frame_kind::goodbye: throw decode_failure(control);
      default: throw error(errc::data_loss, "a second handshake on one connection");
    }
  }
  static std::unique_ptr<incoming> checked(std::unique_ptr<incoming> message, const frame_header& h) {
    std::uint64_t room = 0;
    if (message)
      for (const auto& r : message->rooms()) room += r.size();
    if (message && room != h.payload)
      throw error(errc::data_loss, "a message announces " + std::to_string(h.payload) +
                                       " bytes of payload, but describes " + std::to_string(room));
    return message;
  }
  // An answer that cannot be read, or of which not all arrives, fails its request too.
  std::unique_ptr<incoming> open_reply(reply_handler& handler, const envelope& e, const frame_header& h) {
    half_answered_ = std::move(handler);
    return checked(half_answered_->open(e), h);
  }
  void fail_by(reply_handler& handler, const std::string& control) {
    half_answered_ = std::move(handler);
    const error why = decode_failure(control);
    std::exchange(half_answered_, std::nullopt)->failed(why);
  }
  std::optional<reply_handler> take_waiting(std::uint64_t id) {
    std::lock_guard hold(mutex_);
    const auto at = waiting_.find(id);
    if (at == waiting_.end()) return std::nullopt;
    auto handler = std::move(at->second);
    waiting_.erase(at);
    return handler;
  }

  // ---- end

  // In the network's thread.
  void close_now(const error& why, bool tell) {
    std::map<std::uint64_t, reply_handler> lost;
    {
      std::lock_guard hold(mutex_);
      if (closed_) return;
      if (tell && !writing_) say_goodbye(why);
      closed_ = why;
      lost.swap(waiting_);
      queue_.clear();
      stream_->close();
    }
    over_ = true;
    const auto handlers = std::exchange(handlers_, {});  // lets go of whoever owns this
    if (const auto half = std::exchange(half_answered_, std::nullopt)) half->failed(handlers.explain(why));
    for (const auto& [id, handler] : lost) handler.failed(handlers.explain(why));
    if (handlers.closed) handlers.closed(why);
  }
  void say_goodbye(const error& why) {
    queued last{{.kind = frame_kind::goodbye}, encode_failure(why)};
    last.header.control = last.message.control.size();
    stream_->write_now(buffers_of(last));
  }

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

inline void responder::reply(message&& answer) {
  if (const auto refused = too_large_to_send(answer.control.size(), answer.payload_bytes())) return fail(*refused);
  const auto id = std::exchange(id_, 0);
  if (const auto c = to_.lock(); c && id)
    c->send({.kind = frame_kind::reply, .id = id}, std::move(answer), connection::urgency::now);
}
inline void responder::fail(const error& why) {
  const auto id = std::exchange(id_, 0);
  if (const auto c = to_.lock(); c && id)
    c->send({.kind = frame_kind::failure, .id = id}, encode_failure(why), connection::urgency::now);
}
inline void responder::hang_up(const error& why) {
  id_ = 0;
  if (const auto c = to_.lock()) c->close(why);
}

}  // namespace pinion::inline v0::rpc
