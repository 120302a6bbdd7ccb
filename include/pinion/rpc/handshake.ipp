// Bodies of <pinion/rpc/handshake.hpp>.
#pragma once

#include <vector>

#include <pinion/rpc/asio_io.hpp>
#include <pinion/rpc/failure.hpp>
#include <pinion/rpc/handshake.hpp>
#include <pinion/rpc/security.hpp>

namespace pinion { inline namespace v0 { namespace rpc { namespace detail {

inline constexpr limits handshake_limits{.control = 4096, .payload = 0};

inline awaitable<void> read_exactly(byte_stream& stream, std::span<std::byte> into) {
  while (!into.empty()) {
    const std::size_t n = co_await stream.read_some(into);
    if (n == 0) throw error(errc::unavailable, "the peer closed the connection during the handshake");
    into = into.subspan(n);
  }
}

// Reads a frame of the handshake; throws the error if it is a failure.
inline awaitable<std::string> hear(byte_stream& stream) {
  frame_header h;
  co_await read_exactly(stream, {reinterpret_cast<std::byte*>(&h), sizeof h});
  check(h, handshake_limits);
  std::string control(static_cast<std::size_t>(h.control), '\0');
  co_await read_exactly(stream, {reinterpret_cast<std::byte*>(control.data()), control.size()});
  if (h.kind == frame_kind::failure) throw decode_failure(control);
  if (h.kind != frame_kind::hello) throw error(errc::data_loss, "a message came before the handshake");
  co_return control;
}

inline awaitable<void> say(byte_stream& stream, frame_kind kind, message text) {
  frame_header h{.kind = kind, .control = text.control.size()};
  const std::vector<asio::const_buffer> parts{{&h, sizeof h}, {text.control.data(), text.control.size()}};
  co_await stream.write(parts);
}

PINION_DECL std::string statement(std::string_view side, const hello& h, const welcome& w) {
  return std::string(side) + '|' + h.nonce + '|' + w.nonce + '|' + h.from + '|' + w.name + '|' +
         std::to_string(h.channel) + '|' + std::to_string(static_cast<int>(h.lane)) + '|' +
         std::to_string(w.incarnation);
}

PINION_DECL void check_nonce(const std::string& theirs, const std::string& who) {
  if (theirs.size() != nonce_size)
    throw error(errc::data_loss, (who.empty() ? "the client" : who) + " gives a number used once of " +
                                     std::to_string(theirs.size()) + " bytes, where it has " +
                                     std::to_string(nonce_size));
}

}}}}  // namespace pinion::v0::rpc::detail

namespace pinion { inline namespace v0 { namespace rpc {

PINION_DECL awaitable<welcome> greet(byte_stream& stream, hello mine, std::string key, std::string address) {
  mine.nonce = nonce();
  co_await detail::say(stream, frame_kind::hello, encode(mine));
  const std::string answer = co_await detail::hear(stream);
  const auto theirs = decode<welcome>(answer);
  detail::check_nonce(theirs.nonce, theirs.name);
  if (!same_proof(theirs.proof, proof(key, detail::statement("server", mine, theirs))))
    throw wrong_key(theirs.name + " at " + address, !theirs.proof.empty(), !key.empty());
  co_await detail::say(stream, frame_kind::hello, encode(proof(key, detail::statement("client", mine, theirs))));
  co_await detail::hear(stream);
  co_return theirs;
}

}}}  // namespace pinion::v0::rpc

namespace pinion { inline namespace v0 { namespace rpc { namespace detail {

inline void check_hello(const hello& h, const identity& me) {
  if (h.version != protocol_version)
    throw error(errc::failed_precondition, "the peer speaks version " + std::to_string(h.version) +
                                               " of the protocol, " + me.name + " speaks version " +
                                               std::to_string(protocol_version));
  if (!h.to.empty() && h.to != me.name)
    throw error(errc::failed_precondition,
                "the peer looks for " + h.to + " here, but this is " + me.name + "; do their cluster specs differ?");
  check_nonce(h.nonce, h.from);
}

}}}}  // namespace pinion::v0::rpc::detail

namespace pinion { inline namespace v0 { namespace rpc {

PINION_DECL awaitable<hello> receive_guest(byte_stream& stream, identity me) {
  outcome<> greeted;
  hello theirs;
  try {
    const std::string first = co_await detail::hear(stream);
    theirs = decode<hello>(first);
    detail::check_hello(theirs, me);
    welcome mine{me.name, me.incarnation, nonce(), {}};
    mine.proof = proof(me.key, detail::statement("server", theirs, mine));
    co_await detail::say(stream, frame_kind::hello, encode(mine));
    const std::string second = co_await detail::hear(stream);
    const auto evidence = decode<std::string>(second);
    if (!same_proof(evidence, proof(me.key, detail::statement("client", theirs, mine))))
      throw error(errc::unauthenticated, "the key that " + me.name + " has was not proven");
  } catch (...) {
    greeted = current_error();
  }
  if (!greeted) {
    co_await detail::say(stream, frame_kind::failure, encode_failure(*greeted.failure()));
    greeted.value();
  }
  co_await detail::say(stream, frame_kind::hello, message());
  co_return theirs;
}

}}}  // namespace pinion::v0::rpc
