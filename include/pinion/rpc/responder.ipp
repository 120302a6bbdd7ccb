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
  c->net_.post([c, id] {
    responder late(c, id);
    late.fail(error(errc::internal, "the request was dropped without an answer"));
  });
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
