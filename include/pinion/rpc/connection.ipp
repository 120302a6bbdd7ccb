// Bodies of <pinion/rpc/connection.hpp>.
#pragma once

#include <algorithm>

#include <pinion/rpc/asio_io.hpp>
#include <pinion/rpc/connection.hpp>
#include <pinion/rpc/failure.hpp>

namespace pinion { inline namespace v0 { namespace rpc {

PINION_DECL responder& responder::operator=(responder&& o) noexcept {
  std::swap(to_, o.to_);
  std::swap(id_, o.id_);
  return *this;
}

PINION_DECL responder::~responder() {
  const auto id = std::exchange(id_, 0);
  const auto c = id ? to_.lock() : nullptr;
  if (!c || c->is_closed()) return;  // the network of a closed connection may have ended
  // Posted, since a request may be dropped because it cannot be read: then the connection closes first, and says why.
  c->net_.post([c, id] {
    responder late(c, id);
    late.fail(error(errc::internal, "the request was dropped without an answer"));
  });
}

PINION_DECL bool connection::is_closed() const {
  std::lock_guard hold(mutex_);
  return closed_ != nullptr;
}

PINION_DECL void connection::start(connection_handlers handlers) {
  handlers_ = std::move(handlers);
  heard_ = net_.now().time_since_epoch().count();
  net_.spawn(read(shared_from_this()));
}

PINION_DECL void connection::notify(rpc::method what, rpc::message&& message, urgency when) {
  send({.kind = frame_kind::notice, .method = what}, std::move(message), when);
}

PINION_DECL void connection::request(rpc::method what, rpc::message&& message, reply_handler handler) {
  if (const auto allowed = may_send(message.control.size(), message.payload_bytes()); !allowed)
    return handler.failed(*allowed.failure());
  std::uint64_t id = 0;
  shared_error closed;
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

PINION_DECL void connection::close(const error& why) {
  net_.post([self = shared_from_this(), why] { self->close_now(why, true); });
}

PINION_DECL void connection::send(frame_header header, rpc::message&& message, urgency when) {
  header.control = message.control.size();
  header.payload = message.payload_bytes();
  std::lock_guard hold(mutex_);
  if (closed_) return;
  traffic::add(traffic_->messages_sent);
  queue_.push_back({header, std::move(message)});
  bytes_queued_ += size_of(queue_.back());
  backlog_ += cost_of(queue_.back());
  if (writing_) return;  // the thread that is writing will send it
  if (when == urgency::now && all_written_now()) return;
  writing_ = true;
  net_.post([self = shared_from_this()] { self->net_.spawn(self->write(self)); });
}

PINION_DECL bool connection::all_written_now() {
  while (!queue_.empty()) {
    queued& q = queue_.front();
    const auto parts = buffers_of(q);
    const std::size_t n = stream_->write_now(parts);
    if (n > 0) count_written(n);
    q.written += n;
    if (q.written < size_of(q)) return false;
    backlog_ -= cost_of(q);
    queue_.pop_front();
  }
  return true;
}

PINION_DECL std::size_t connection::size_of(const queued& q) {
  return static_cast<std::size_t>(sizeof(frame_header) + q.header.control + q.header.payload);
}

PINION_DECL std::vector<asio::const_buffer> connection::buffers_of(const queued& q) {
  std::vector<asio::const_buffer> parts;
  append_buffers(parts, q);
  return parts;
}

PINION_DECL void connection::append_buffers(std::vector<asio::const_buffer>& parts, const queued& q) {
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

PINION_DECL void connection::count_written(std::size_t bytes) {
  traffic::add(traffic_->bytes_sent, bytes);
  traffic::add(traffic_->writes);
  written_.fetch_add(bytes, std::memory_order_relaxed);
}

PINION_DECL std::uint64_t connection::bytes_queued() const {
  std::lock_guard hold(mutex_);
  return bytes_queued_;
}

PINION_DECL std::uint64_t connection::bytes_taken() const {
  const std::uint64_t written = written_.load(std::memory_order_relaxed);  // first: others may write meanwhile
  return written - std::min(written, stream_->outflow().on_the_way);
}

PINION_DECL std::uint64_t connection::progress() const {
  const outflow now = stream_->outflow();
  return now.accepted - std::min(now.accepted, now.on_the_way);
}

PINION_DECL bool connection::has_sent_all() const {
  {
    std::lock_guard hold(mutex_);
    if (backlog_ > 0) return false;
  }
  return over_ || stream_->outflow().on_the_way == 0;
}

PINION_DECL awaitable<void> connection::write([[maybe_unused]] std::shared_ptr<connection> self) {
  outcome<> written;
  std::uint64_t done = 0;  // cost of the batch before
  try {
    for (;;) {
      std::deque<queued> batch;
      {
        std::lock_guard hold(mutex_);
        backlog_ -= std::exchange(done, 0);
        batch.swap(queue_);
        if (batch.empty() || closed_) writing_ = false;
      }
      if (room_ && !is_crowded()) room_->cancel();
      if (batch.empty() || over_) co_return;
      std::vector<asio::const_buffer> parts;
      for (const queued& q : batch) {
        append_buffers(parts, q);
        done += cost_of(q);
      }
      co_await write_in_pieces(std::move(parts));
    }
  } catch (...) {
    written = current_error();
  }
  close_now(*written.failure(), false);
}

// Pieces, so that a peer that takes bytes slowly can be told from one that takes none.
PINION_DECL awaitable<void> connection::write_in_pieces(std::vector<asio::const_buffer> parts) {
  constexpr std::size_t most = std::size_t{256} << 10;
  std::vector<asio::const_buffer> piece;
  for (std::size_t at = 0; at < parts.size();) {
    piece.clear();
    std::size_t room = most;
    while (at < parts.size() && room > 0) {
      const std::size_t n = std::min(room, parts[at].size());
      piece.emplace_back(parts[at].data(), n);
      room -= n;
      parts[at] += n;
      if (parts[at].size() == 0) ++at;
    }
    co_await stream_->write(piece);
    count_written(most - room);
    taken_ += most - room;
  }
}

PINION_DECL awaitable<void> connection::read([[maybe_unused]] std::shared_ptr<connection> self) {
  outcome<> ended;
  try {
    while (!over_) {
      if (is_crowded()) co_await await_room();
      co_await read_message();
    }
  } catch (...) {
    ended = current_error();
  }
  if (!ended) close_now(*ended.failure(), refusing_);
}

PINION_DECL awaitable<void> connection::read_message() {
  frame_header h;
  co_await fill({reinterpret_cast<std::byte*>(&h), sizeof h});
  refusing_ = true;
  check(h, limits_);
  refusing_ = false;
  std::string control = co_await read_control(h.control);
  refusing_ = true;
  const auto message = open(h, control);
  refusing_ = false;
  if (!message)
    co_await skip(h.payload);
  else if (h.payload > 0)
    co_await read_payload(*message);
  traffic::add(traffic_->messages_received);
  refusing_ = true;
  if (message) message->check();
  half_answered_.reset();
  if (message) message->arrived();
  refusing_ = false;
}

PINION_DECL awaitable<std::string> connection::read_control(std::uint64_t bytes) {
  std::string control;
  while (bytes > 0) {
    const auto step = static_cast<std::size_t>(std::min<std::uint64_t>(bytes, std::uint64_t{1} << 20));
    const std::size_t at = control.size();
    control.resize(at + step);
    co_await fill({reinterpret_cast<std::byte*>(control.data()) + at, step});
    bytes -= step;
  }
  co_return control;
}

PINION_DECL std::uint64_t connection::backlog() const {
  std::lock_guard hold(mutex_);
  return backlog_;
}

PINION_DECL bool connection::is_crowded() const {
  if (backlog_limit_.most == backlog_limit{}.most) return false;
  std::lock_guard hold(mutex_);
  return backlog_ > (room_ ? backlog_limit_.most / 2 : backlog_limit_.most);
}

PINION_DECL awaitable<void> connection::await_room() {
  room_ = net_.make_timer();
  auto taken = taken_;
  auto since = net_.now();
  while (is_crowded() && !over_) {
    forgive();  // the peer may be talking, and it is this side that does not listen
    co_await room_->wait_until(net_.now() + backlog_limit_.patience / 4);
    if (std::exchange(taken, taken_) != taken_) since = net_.now();
    if (net_.now() - since < backlog_limit_.patience) continue;
    refusing_ = true;
    throw error(errc::resource_exhausted,
                "more than " + std::to_string(backlog_limit_.most) +
                    " bytes wait for the client (limits.bytes_waiting), and it takes none of them");
  }
  forgive();
  room_ = nullptr;
}

PINION_DECL awaitable<void> connection::fill(std::span<std::byte> into) {
  while (!into.empty()) {
    if (!unread_.empty()) {
      const std::size_t n = std::min(unread_.size(), into.size());
      std::memcpy(into.data(), unread_.data(), n);
      unread_ = unread_.subspan(n);
      into = into.subspan(n);
    } else if (into.size() >= network::inbox_size) {
      net_.give_back(std::move(inbox_));
      const std::size_t n = co_await stream_->read_some(into);
      heard(n);
      into = into.subspan(n);
    } else {
      co_await refill();
    }
  }
}

PINION_DECL awaitable<void> connection::refill() {
  net_.give_back(std::move(inbox_));
  std::size_t n = co_await stream_->read_some(first_);
  heard(n);
  unread_ = std::span(first_).first(n);
  if (n < first_.size()) co_return;
  inbox_ = net_.borrow_inbox();
  std::memcpy(inbox_.get(), first_.data(), n);
  if (const std::size_t more = stream_->read_now({inbox_.get() + n, network::inbox_size - n}); more > 0) {
    heard(more);
    n += more;
  }
  unread_ = {inbox_.get(), n};
}

PINION_DECL awaitable<void> connection::skip(std::uint64_t bytes) {
  std::vector<std::byte> nowhere(static_cast<std::size_t>(std::min<std::uint64_t>(bytes, 1 << 16)));
  while (bytes > 0) {
    const auto n = static_cast<std::size_t>(std::min<std::uint64_t>(bytes, nowhere.size()));
    co_await fill({nowhere.data(), n});
    bytes -= n;
  }
}

PINION_DECL void connection::heard(std::size_t n) {
  if (over_) throw error(errc::cancelled, "closed here meanwhile");
  if (n == 0) throw error(errc::unavailable, "the peer closed the connection");
  traffic::add(traffic_->bytes_received, n);
  heard_.store(net_.now().time_since_epoch().count(), std::memory_order_relaxed);
}

PINION_DECL std::unique_ptr<incoming> connection::open(const frame_header& h, std::string& control) {
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

PINION_DECL std::unique_ptr<incoming> connection::checked(std::unique_ptr<incoming> message, const frame_header& h) {
  if (!message) return message;
  const auto* rest = message->rest();
  std::uint64_t room = rest ? rest->announced() : 0;
  for (const auto& r : message->rooms()) room += r.size();
  if (room != h.payload)
    throw error(errc::data_loss, "a message announces " + std::to_string(h.payload) +
                                     " bytes of payload, but describes " + std::to_string(room));
  return message;
}

PINION_DECL awaitable<void> connection::read_payload(incoming& message) {
  for (const auto& room : message.rooms()) co_await fill(room);
  if (auto* rest = message.rest())
    for (auto room = rest->next_room(); !room.empty(); room = rest->next_room()) co_await fill(room);
}

PINION_DECL std::unique_ptr<incoming> connection::open_reply(reply_handler& handler, const envelope& e,
                                                             const frame_header& h) {
  half_answered_ = std::move(handler);
  return checked(half_answered_->open(e), h);
}

PINION_DECL void connection::fail_by(reply_handler& handler, const std::string& control) {
  half_answered_ = std::move(handler);
  const error why = decode_failure(control);
  std::exchange(half_answered_, std::nullopt)->failed(why);
}

PINION_DECL std::optional<reply_handler> connection::take_waiting(std::uint64_t id) {
  std::lock_guard hold(mutex_);
  const auto at = waiting_.find(id);
  if (at == waiting_.end()) return std::nullopt;
  auto handler = std::move(at->second);
  waiting_.erase(at);
  return handler;
}

PINION_DECL void connection::close_now(const error& why, bool tell) {
  std::map<std::uint64_t, reply_handler> lost;
  {
    std::lock_guard hold(mutex_);
    if (closed_) return;
    if (tell && !writing_) say_goodbye(why);
    closed_ = std::make_shared<const error>(why);
    lost.swap(waiting_);
    queue_.clear();
    stream_->close();
  }
  over_ = true;
  if (room_) room_->cancel();
  const auto handlers = std::exchange(handlers_, {});  // releases the owner of this connection
  if (const auto half = std::exchange(half_answered_, std::nullopt)) half->failed(handlers.explain(why));
  for (const auto& [id, handler] : lost) handler.failed(handlers.explain(why));
  if (handlers.closed) handlers.closed(why);
}

PINION_DECL void connection::say_goodbye(const error& why) {
  queued last{{.kind = frame_kind::goodbye}, encode_failure(why)};
  last.header.control = last.message.control.size();
  stream_->write_last(buffers_of(last));
}

PINION_DECL void responder::reply(message&& answer) {
  if (const auto allowed = may_send(answer.control.size(), answer.payload_bytes()); !allowed)
    return fail(*allowed.failure());
  const auto id = std::exchange(id_, 0);
  if (const auto c = to_.lock(); c && id)
    c->send({.kind = frame_kind::reply, .id = id}, std::move(answer), connection::urgency::now);
}

PINION_DECL void responder::fail(const error& why) {
  const auto id = std::exchange(id_, 0);
  if (const auto c = to_.lock(); c && id)
    c->send({.kind = frame_kind::failure, .id = id}, encode_failure(why), connection::urgency::now);
}

PINION_DECL void responder::hang_up(const error& why) {
  id_ = 0;
  if (const auto c = to_.lock()) c->close(why);
}

}}}  // namespace pinion::v0::rpc
