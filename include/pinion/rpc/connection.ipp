// Bodies of <pinion/rpc/connection.hpp>.
#pragma once

#include <algorithm>
#include <cstring>

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
  in_.forgive();
  net_.spawn(read(shared_from_this()));
}

PINION_DECL void connection::notify(rpc::method what, rpc::message&& message, urgency when) {
  out_.send({.kind = frame_kind::notice, .method = what}, std::move(message), when);
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
    out_.send({.kind = frame_kind::request, .method = what, .id = id}, std::move(message), urgency::now);
  } catch (...) {
    if (const auto unsent = take_waiting(id)) unsent->failed(current_error());
  }
}

PINION_DECL void connection::close(const error& why) {
  net_.post([self = shared_from_this(), why] { self->close_now(why, true); });
}

PINION_DECL awaitable<void> connection::read([[maybe_unused]] std::shared_ptr<connection> self) {
  outcome<> ended;
  try {
    while (!in_.is_over()) {
      if (out_.is_crowded()) co_await out_.await_room();
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
  if (!in_.fill_now(std::as_writable_bytes(std::span(&h, 1)))) h = co_await read_header();
  refusing_ = true;
  check(h, limits_);
  refusing_ = false;
  if (h.kind == frame_kind::piece) co_return co_await read_piece(h);
  outcome<std::string> control = std::string();
  if (h.control <= in_.unread())
    control = in_.take_text(static_cast<std::size_t>(h.control));
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
  while (!room.empty() && in_.unread() == 0 && !in_pieces_.empty()) room = room.subspan(co_await in_.read_some(room));
  co_await in_.fill(room);
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
  if (!a.message) co_return co_await in_.skip(bytes);
  while (bytes > 0) {
    const auto room = a.next_room(bytes);
    co_await in_.fill(room);
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
    co_await give_way(net_.context());
    if (in_.is_over()) throw error(errc::cancelled, "closed here meanwhile");
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
      co_await in_.skip(bytes);
      co_return *counted.failure();
    }
    control.resize(at + step);
    co_await in_.fill({reinterpret_cast<std::byte*>(control.data()) + at, step});
    bytes -= step;
  }
  co_return control;
}

PINION_DECL void connection::refuse(const frame_header& h, const error& why) {
  if (h.kind != frame_kind::request) throw error(why);
  responder(weak_from_this(), h.id).fail(why);
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

PINION_DECL void connection::close_now(const error& why, bool tell) noexcept {
  std::map<std::uint64_t, reply_handler> lost;
  {
    std::lock_guard hold(mutex_);
    if (closed_) return;
    closed_ = pinion::detail::share(why);
    lost.swap(waiting_);
  }
  in_.end();
  out_.close(tell ? &why : nullptr);
  const auto handlers = std::exchange(handlers_, {});  // releases the owner of this connection
  if (const auto whole = std::exchange(whole_.asker, std::nullopt)) fail(*whole, handlers, why);
  for (auto& [slot, a] : in_pieces_)
    if (const auto asker = std::exchange(a.asker, std::nullopt)) fail(*asker, handlers, why);
  for (const auto& [id, handler] : lost) fail(handler, handlers, why);
  if (handlers.closed) static_cast<void>(outcome_of([&] { handlers.closed(why); }));
}

PINION_DECL void connection::fail(const reply_handler& asker, const connection_handlers& with,
                                  const error& why) noexcept {
  error told = pinion::detail::out_of_memory();
  static_cast<void>(outcome_of([&] { told = with.explain(why); }));
  static_cast<void>(outcome_of([&] { asker.failed(told); }));
}

}}}  // namespace pinion::v0::rpc
