// Bodies of <pinion/rpc/handshake.hpp>.
#pragma once

#include <vector>

#include <pinion/rpc/failure.hpp>
#include <pinion/rpc/handshake.hpp>
#include <pinion/rpc/security/security.hpp>
#include <pinion/rpc/transport/asio_io.hpp>

namespace pinion { inline namespace v0 { namespace rpc { namespace detail {

inline constexpr limits handshake_limits{.control = 4096, .payload = 0};

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

PINION_DECL std::string statement(const agreement& v, const hello& h, const welcome& w, const std::string& binding) {
  writer out;
  out(v.client.least, v.client.greatest, v.server.least, v.server.greatest, v.chosen, h, w, binding);
  return std::move(out.control);
}

PINION_DECL void check_nonce(const std::string& theirs, const std::string& who) {
  if (theirs.size() != nonce_size)
    throw error(errc::data_loss, (who.empty() ? "the client" : who) + " gives a number used once of " +
                                     std::to_string(theirs.size()) + " bytes, where it has " +
                                     std::to_string(nonce_size));
}

// Sends the client's proof, and returns the server's. A refusal of the proof is told as what is wrong with the key.
inline awaitable<std::string> exchange_proofs(byte_stream& stream, std::string mine, welcome theirs,
                                              std::string address) {
  const bool given = !mine.empty();
  outcome<> answered;
  try {
    co_await say(stream, frame_kind::hello, encode(mine));
    const std::string answer = co_await hear(stream);
    co_return decode<std::string>(answer);
  } catch (...) {
    answered = current_error();
  }
  const error& why = *answered.failure();
  if (why.code() == errc::unauthenticated) throw wrong_key(theirs.name + " at " + address, theirs.keyed, given);
  throw error(why);
}

// Throws failed_precondition unless the task that is there is the one that was to be there; "": any was.
inline void expect_task(const std::string& wanted, const std::string& found, const std::string& address = {}) {
  if (wanted.empty() || wanted == found) return;
  throw error(errc::failed_precondition,
              "at the address of " + wanted + (address.empty() ? "" : ", " + address + ",") + " is " + found +
                  ", as that calls itself: the cluster specs of the two differ, or one has the address of another");
}

}}}}  // namespace pinion::v0::rpc::detail

namespace pinion { inline namespace v0 { namespace rpc {

PINION_DECL awaitable<welcome> greet(byte_stream& stream, hello mine, identity me, std::string address) {
  const agreement agreed = co_await open_as_client(stream, me.speaks, address);
  mine.from = me.name;
  mine.incarnation = me.incarnation;
  mine.nonce = nonce();
  co_await detail::say(stream, frame_kind::hello, encode(mine));
  const std::string answer = co_await detail::hear(stream);
  const auto theirs = decode<welcome>(answer);
  stream.expect_peer(theirs.name);
  detail::expect_task(mine.to, theirs.name, address);  // its certificate may be good for its own name alone
  detail::check_nonce(theirs.nonce, theirs.name);
  const shared_key& key = me.shows.key;
  if (!theirs.keyed && !key.empty()) throw wrong_key(theirs.name + " at " + address, false, true);
  const std::string said = detail::statement(agreed, mine, theirs, stream.binding());
  const auto evidence = co_await detail::exchange_proofs(stream, key.proof(side::client, said), theirs, address);
  if (!same_proof(evidence, key.proof(side::server, said)))
    throw error(errc::unauthenticated, theirs.name + " at " + address + " has not proven the key that it asks for");
  co_return theirs;
}

}}}  // namespace pinion::v0::rpc

namespace pinion { inline namespace v0 { namespace rpc { namespace detail {

inline void check_hello(const hello& h, const identity& me) {
  expect_task(h.to, me.name);
  if (h.lane > lane::control) throw error(errc::data_loss, "the client names a lane that does not exist");
  if (h.heartbeat_ms == 0 || h.heartbeat() > longest_heartbeat)
    throw error(errc::invalid_argument, "the client states a heartbeat of " + std::to_string(h.heartbeat_ms) + " ms; " +
                                            me.name + " takes 1 ms to 60 s");
  check_nonce(h.nonce, h.from);
  if (!h.address.empty()) (void)endpoint(h.address);  // throws invalid_argument
}

// Returns this side's proof when the client has given its own.
inline awaitable<std::string> hear_proof(byte_stream& stream, agreement agreed, hello& theirs, identity me) {
  const std::string first = co_await hear(stream);
  theirs = decode<hello>(first);
  check_hello(theirs, me);
  if (!theirs.from.empty()) stream.expect_peer(theirs.from);
  const shared_key& key = me.shows.key;
  const welcome mine{me.name, me.incarnation, !key.empty(), nonce(), me.on_host};
  const std::string said = statement(agreed, theirs, mine, stream.binding());
  const std::string expected = key.proof(side::client, said);
  co_await say(stream, frame_kind::hello, encode(mine));
  const std::string second = co_await hear(stream);
  const auto evidence = decode<std::string>(second);
  if (!same_proof(evidence, expected))
    throw error(errc::unauthenticated, evidence.empty() ? "the client gave no proof of the key that " + me.name + " has"
                                                        : "the client's key is not the one that " + me.name + " has");
  co_return key.proof(side::server, said);
}

}}}}  // namespace pinion::v0::rpc::detail

namespace pinion { inline namespace v0 { namespace rpc {

PINION_DECL awaitable<hello> receive_hello(byte_stream& stream, identity me,
                                           const std::function<void(const hello&)>& admits) {
  const agreement agreed = co_await open_as_server(stream, me.speaks, me.name);
  outcome<> greeted;
  hello theirs;
  std::string evidence;
  try {
    evidence = co_await detail::hear_proof(stream, agreed, theirs, me);
    if (admits) admits(theirs);
  } catch (...) {
    greeted = current_error();
  }
  if (!greeted) {
    co_await detail::say(stream, frame_kind::failure, encode_failure(*greeted.failure()));
    greeted.value();
  }
  co_await detail::say(stream, frame_kind::hello, encode(evidence));
  co_return theirs;
}

}}}  // namespace pinion::v0::rpc
