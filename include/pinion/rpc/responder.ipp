// Bodies of <pinion/rpc/responder.hpp>.
#pragma once

#include <pinion/rpc/connection.hpp>
#include <pinion/rpc/failure.hpp>
#include <pinion/rpc/responder.hpp>

namespace pinion { inline namespace v0 { namespace rpc {

PINION_DECL responder& responder::operator=(responder&& o) noexcept {
  std::swap(to_, o.to_);
  std::swap(id_, o.id_);
  return *this;
}

PINION_DECL responder::~responder() {
  const auto id = std::exchange(id_, 0);
  const auto c = id ? to_.lock() : nullptr;
  if (!c || c->why_closed()) return;  // the network of a closed connection may have ended
  // Posted, since a request may be dropped because it cannot be read: then the connection closes first, and says why.
  try {
    c->net_.post([c, id] {
      responder late(c, id);
      late.fail(error(errc::internal, "the request was dropped without an answer"));
    });
  } catch (...) {
    c->in().give_up();
  }
}

PINION_DECL void responder::reply(message&& answer) noexcept {
  reply_with([&] { return std::move(answer); });
}

PINION_DECL void responder::fail(const error& why) noexcept {
  if (outcome_of([&] { send_failure(why); })) return;
  if (outcome_of([&] { send_failure(pinion::detail::out_of_memory()); })) return;
  if (const auto c = to_.lock()) c->in().give_up();
}

PINION_DECL void responder::hang_up(const error& why) noexcept {
  id_ = 0;
  const auto c = to_.lock();
  if (c && !outcome_of([&] { c->close(why); })) c->in().give_up();
}

PINION_DECL void responder::send_reply(message&& answer) {
  may_send(answer.control.size(), answer.payload_bytes()).value();
  if (const auto c = to_.lock(); c && id_)
    c->out().send({.kind = frame_kind::reply, .id = id_}, std::move(answer), urgency::now);
  id_ = 0;
}

PINION_DECL void responder::send_failure(const error& why) {
  if (const auto c = to_.lock(); c && id_)
    c->out().send({.kind = frame_kind::failure, .id = id_}, encode_failure(why), urgency::now);
  id_ = 0;
}

}}}  // namespace pinion::v0::rpc
