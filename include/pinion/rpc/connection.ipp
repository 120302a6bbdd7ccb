// Bodies of <pinion/rpc/connection.hpp>.
#pragma once

#include <algorithm>

#include <pinion/rpc/connection.hpp>
#include <pinion/rpc/failure.hpp>
#include <pinion/rpc/transport/asio_io.hpp>

namespace pinion { inline namespace v0 { namespace rpc {

PINION_DECL shared_error connection::why_closed() const {
  std::lock_guard hold(mutex_);
  return closed_;
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
  try {
    send({.kind = frame_kind::request, .method = what, .id = id}, std::move(message), urgency::now);
  } catch (...) {
    if (const auto unsent = take_waiting(id)) unsent->failed(current_error());
  }
}

PINION_DECL void connection::close(const error& why) {
  net_.post([self = shared_from_this(), why] { self->close_now(why, true); });
}

PINION_DECL void connection::send(frame_header header, rpc::message&& message, urgency when) {
  if (!net_.is_of_this_process()) return;  // the stream is the parent's
  outbox::outgoing next(header, std::move(message));
  if (memory_ && !lend(next)) next.share(*memory_);
  outbox::messages gone;  // their memory is freed without the lock
  std::lock_guard hold(mutex_);
  if (closed_) return;
  traffic::add(traffic_->messages_sent);
  if (header.kind == frame_kind::reply) refuse_if_crowded(next);
  if (!has_backlog()) moved_ = net_.now();
  out_.add(std::move(next));
  try {
    write_on(when, gone);
  } catch (...) {
    writing_ = true;  // nobody does any more
    give_up();
  }
}

PINION_DECL void connection::write_on(urgency when, outbox::messages& gone) {
  if (writing_) return watch_if_crowded();     // the thread that is writing will send it
  const bool wakes_more = memory_ != nullptr;  // within a host a write costs less than waking a thread for it
  if ((when == urgency::now || wakes_more) && all_written_now(gone)) return;
  writing_ = true;
  watch_if_crowded();
  net_.post([self = shared_from_this()] {
    const auto began = outcome_of([&] { self->net_.spawn(self->write(self)); });
    if (!began) self->close_now(*began.failure(), false);
  });
}

PINION_DECL bool connection::lend(outbox::outgoing& next) {
  const auto where = next.in_slab();
  if (!where) return false;
  if (!memory_->has_shown(*where->slab)) {
    std::lock_guard hold(mutex_);
    if (closed_ || !stream_->show(where->slab)) return false;
  }
  return next.lend(*memory_, *where);
}

PINION_DECL bool connection::all_written_now(outbox::messages& gone) {
  constexpr int most_calls = 4;  // the rest is the work of the network's thread
  for (int i = 0; i < most_calls && !out_.empty(); ++i) {
    const auto parts = out_.next();
    if (parts.empty()) return false;
    const std::size_t all = asio::buffer_size(parts), n = stream_->write_now(parts);
    if (n > 0) count_written(n + (n == all ? out_.shared() : 0));
    gone.splice(gone.end(), out_.written(n));
    if (n < all) return false;
  }
  return out_.empty();
}

PINION_DECL void connection::count_written(std::size_t bytes) {
  traffic::add(traffic_->bytes_sent, bytes);
  traffic::add(traffic_->writes);
  written_.fetch_add(bytes, std::memory_order_relaxed);
}

PINION_DECL std::uint64_t connection::bytes_waiting() const {
  std::lock_guard hold(mutex_);
  return out_.cost();
}

PINION_DECL std::uint64_t connection::bytes_queued() const {
  std::lock_guard hold(mutex_);
  return out_.bytes_added();
}

PINION_DECL std::uint64_t connection::bytes_taken() const {
  const std::uint64_t written = written_.load(std::memory_order_relaxed);  // first: others may write meanwhile
  return written - std::min(written, stream_->outflow().on_the_way);
}

PINION_DECL std::uint64_t connection::progress() const {
  const outflow now = stream_->outflow();
  return now.accepted - std::min(now.accepted, now.on_the_way);
}

PINION_DECL awaitable<void> connection::write([[maybe_unused]] std::shared_ptr<connection> self) {
  outcome<> written;
  std::size_t bytes = 0;  // of what was written last
  try {
    for (;;) {
      outbox::messages gone;
      std::span<const asio::const_buffer> parts;
      outbox::outgoing* to_share = nullptr;
      {
        std::lock_guard hold(mutex_);
        gone = closed_ ? out_.clear() : out_.written(bytes);
        moved_ = net_.now();
        to_share = out_.next_to_share();
        parts = out_.next();
        writing_ = !parts.empty() || to_share;
      }
      if (room_ && !is_crowded()) room_->cancel();
      if (parts.empty() && !to_share) co_return;
      if (to_share) to_share->put_piece();
      bytes = asio::buffer_size(parts);
      if (bytes == 0)
        co_await give_way();
      else
        co_await stream_->write(parts);
      count_written(bytes + out_.shared());
    }
  } catch (...) {
    written = current_error();
  }
  close_now(*written.failure(), false);
  outbox::messages lost;
  std::lock_guard hold(mutex_);
  lost = out_.clear();
}

PINION_DECL awaitable<void> connection::give_way() {
  co_await asio::post(net_.context(), asio::use_awaitable);
}

PINION_DECL awaitable<void> connection::read([[maybe_unused]] std::shared_ptr<connection> self) {
  outcome<> ended;
  try {
    while (!over_) {
      if (is_crowded()) co_await await_room();
      co_await read_frame();
    }
  } catch (...) {
    ended = current_error();
  }
  if (!ended) close_now(*ended.failure(), refusing_);
  whole_ = {};
  in_pieces_.clear();
}

PINION_DECL awaitable<void> connection::read_frame() {
  frame_header h;
  if (!fill_now(std::as_writable_bytes(std::span(&h, 1)))) h = co_await read_header();
  refusing_ = true;
  check(h, limits_);
  refusing_ = false;
  if (h.kind == frame_kind::piece) co_return co_await read_piece(h);
  outcome<std::string> control = std::string();
  if (h.control <= unread_.size())
    control = take_control(static_cast<std::size_t>(h.control));
  else
    control = co_await read_control(h.control);
  refusing_ = true;
  arriving& a = place_of(h);
  const auto lent = h.shared ? borrow(h) : nullptr;
  if (control)
    begin(a, h, control.value(), lent);
  else
    refuse(h, *control.failure());
  refusing_ = false;
  if (lent) {
    if (!stays_in_place(a, lent.get())) co_await take_payload(a, lent);
  } else if (h.slot != 0) {
    co_return;
  } else if (h.payload > 0) {
    co_await read_payload(a, h.payload);
  }
  deliver(a, 0);
}

PINION_DECL bool connection::stays_in_place(arriving& a, const std::byte* lent) {
  if (!a.message || a.message->rest()) return false;
  const auto rooms = a.message->rooms();
  if (rooms.size() != 1 || rooms[0].data() != lent) return false;
  traffic::add(traffic_->bytes_received, std::exchange(a.left, 0));
  return true;
}

PINION_DECL std::shared_ptr<std::byte> connection::borrow(const frame_header& h) const {
  if (!memory_) throw error(errc::data_loss, "a payload is said to lie in shared memory, and there is none");
  if (h.shared == frame_header::in_pages) return memory_->borrow(h.slot, h.payload);
  auto lent = memory_->borrow_shown(h.slot, h.payload);
  if (!lent) {
    stream_->take_shown();  // what is lent was shown before
    lent = memory_->borrow_shown(h.slot, h.payload);
  }
  if (!lent) throw error(errc::data_loss, "a payload is said to lie in a slab of memory that was not shown");
  return lent;
}

PINION_DECL awaitable<frame_header> connection::read_header() {
  frame_header h;
  std::span<std::byte> room{reinterpret_cast<std::byte*>(&h), sizeof h};
  // The next bytes may be a piece, which goes to its place, and must not come into a buffer.
  while (!room.empty() && unread_.empty() && !in_pieces_.empty()) {
    const std::size_t n = co_await stream_->read_some(room);
    heard(n);
    room = room.subspan(n);
  }
  co_await fill(room);
  co_return h;
}

PINION_DECL awaitable<void> connection::read_piece(const frame_header& h) {
  refusing_ = true;
  const auto at = in_pieces_.find(h.slot);
  if (at == in_pieces_.end()) throw error(errc::data_loss, "a piece comes of a message that has not begun");
  arriving& a = at->second;
  if (h.control > 0 || h.payload == 0 || h.payload > a.left)
    throw error(errc::data_loss, "a piece comes with " + std::to_string(h.control) + " bytes of control and " +
                                     std::to_string(h.payload) + " of payload, of which " + std::to_string(a.left) +
                                     " are left");
  refusing_ = false;
  co_await read_payload(a, h.payload);
  if (a.left == 0) deliver(a, h.slot);
}

PINION_DECL awaitable<void> connection::read_payload(arriving& a, std::uint64_t bytes) {
  a.left -= bytes;
  if (!a.message) co_return co_await skip(bytes);
  while (bytes > 0) {
    const auto room = a.next_room(bytes);
    co_await fill(room);
    bytes -= room.size();
  }
}

PINION_DECL awaitable<void> connection::take_payload(arriving& a, std::shared_ptr<std::byte> lent) {
  constexpr std::uint64_t most_at_once = outbox::piece;  // so that others are served too
  traffic::add(traffic_->bytes_received, a.left);
  const std::byte* from = lent.get();
  for (std::uint64_t copied = 0; a.message && a.left > 0;) {
    const auto room = a.next_room(std::min(a.left, most_at_once));
    a.left -= room.size();
    if (room.data() != from) {
      std::memcpy(room.data(), from, room.size());
      copied += room.size();
    }
    from += room.size();
    if (copied < most_at_once) continue;
    copied = 0;
    co_await give_way();
    if (over_) throw error(errc::cancelled, "closed here meanwhile");
  }
  a.left = 0;
}

PINION_DECL std::span<std::byte> connection::arriving::next_room(std::uint64_t most) {
  while (room.empty()) {
    const auto all = message->rooms();
    room = rooms < all.size() ? all[rooms++] : message->rest()->next_room();
  }
  const auto next = room.first(static_cast<std::size_t>(std::min<std::uint64_t>(most, room.size())));
  room = room.subspan(next.size());
  return next;
}

PINION_DECL void connection::deliver(arriving& a, std::uint16_t slot) {
  traffic::add(traffic_->messages_received);
  refusing_ = true;
  if (a.message) a.message->check();
  const auto message = std::move(a.message);
  a = {};
  in_pieces_.erase(slot);
  if (message) message->arrived();
  refusing_ = false;
}

PINION_DECL awaitable<outcome<std::string>> connection::read_control(std::uint64_t bytes) {
  constexpr std::uint64_t first = std::uint64_t{64} << 10, most = std::uint64_t{1} << 20;
  std::string control;
  std::shared_ptr<void> held;  // not by messages that have one step
  while (bytes > 0) {
    const std::size_t at = control.size();
    const auto step = static_cast<std::size_t>(std::min({bytes, most, std::max<std::uint64_t>(first, at)}));
    const auto counted = outcome_of([&] {
      held = nullptr;  // all of it is counted anew
      if (at > 0 && handlers_.hold) held = handlers_.hold(at + step);
      // Address space for all of it, which takes memory as it is written to: this thread does not copy what is long.
      if (at >= most) control.reserve(at + static_cast<std::size_t>(bytes));
    });
    if (!counted) {
      std::string().swap(control);  // frees it
      co_await skip(bytes);
      co_return *counted.failure();
    }
    control.resize(at + step);
    co_await fill({reinterpret_cast<std::byte*>(control.data()) + at, step});
    bytes -= step;
  }
  co_return control;
}

PINION_DECL void connection::refuse(const frame_header& h, const error& why) {
  if (h.kind != frame_kind::request) throw error(why);
  responder(weak_from_this(), h.id).fail(why);
}

PINION_DECL void connection::take_unread(std::span<std::byte> into) {
  std::memcpy(into.data(), unread_.data(), into.size());
  unread_ = unread_.subspan(into.size());
}

PINION_DECL bool connection::fill_now(std::span<std::byte> into) {
  if (into.size() > unread_.size()) return false;
  take_unread(into);
  return true;
}

PINION_DECL std::string connection::take_control(std::size_t bytes) {
  std::string control(reinterpret_cast<const char*>(unread_.data()), bytes);
  unread_ = unread_.subspan(bytes);
  return control;
}

PINION_DECL awaitable<void> connection::fill(std::span<std::byte> into) {
  while (!into.empty()) {
    if (!unread_.empty()) {
      const std::size_t n = std::min(unread_.size(), into.size());
      take_unread(into.first(n));
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
  if (given_up_.load(std::memory_order_relaxed))
    throw error(errc::unavailable, "there was no memory for a message to the peer");
  if (n == 0) throw error(errc::unavailable, "the peer closed the connection");
  traffic::add(traffic_->bytes_received, n);
  heard_.store(net_.now().time_since_epoch().count(), std::memory_order_relaxed);
}

PINION_DECL void connection::begin(arriving& a, const frame_header& h, std::string& control,
                                   std::shared_ptr<std::byte> lent) {
  const envelope e{h.method, control, h.payload, &control, std::move(lent)};
  switch (h.kind) {
    case frame_kind::request: try { a.message = checked(handlers_.request(e, responder(weak_from_this(), h.id)), h);
      } catch (const std::bad_alloc&) {  // its payload is passed over
        refuse(h, current_error());
      }
      break;
    case frame_kind::notice: a.message = checked(handlers_.notice(e), h); break;
    case frame_kind::reply:
      if ((a.asker = take_waiting(h.id))) a.message = checked(a.asker->open(e), h);
      if (!a.message) a.asker.reset();
      break;
    case frame_kind::failure:
      if ((a.asker = take_waiting(h.id))) fail_asker(a, control);
      break;
    case frame_kind::goodbye: throw decode_failure(control);
    default: throw error(errc::data_loss, "a second handshake on one connection");
  }
}

PINION_DECL connection::arriving& connection::place_of(const frame_header& h) {
  if (h.slot == 0 || h.shared) {
    whole_.left = h.payload;
    return whole_;
  }
  if (h.payload == 0) throw error(errc::data_loss, "a message without a payload announces pieces of one");
  const auto [at, is_new] = in_pieces_.try_emplace(h.slot);
  if (!is_new)
    throw error(errc::data_loss, "a message in pieces begins in the slot of another, of which " +
                                     std::to_string(at->second.left) + " bytes are left");
  at->second.left = h.payload;
  return at->second;
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

PINION_DECL void connection::fail_asker(arriving& a, const std::string& control) {
  const error why = decode_failure(control);
  std::exchange(a.asker, std::nullopt)->failed(why);
}

PINION_DECL std::optional<reply_handler> connection::take_waiting(std::uint64_t id) {
  std::lock_guard hold(mutex_);
  const auto at = waiting_.find(id);
  if (at == waiting_.end()) return std::nullopt;
  auto handler = std::move(at->second);
  waiting_.erase(at);
  return handler;
}

}}}  // namespace pinion::v0::rpc
