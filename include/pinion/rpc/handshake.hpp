// The first words on a connection: who is there, and whether both know the key.
//
//   client                                   server
//     |  hello: version, lane, who, whom, nonce |
//     | --------------------------------------> |
//     |  welcome: who, incarnation, nonce, proof|   or a failure
//     | <-------------------------------------- |
//     |  proof                                  |
//     | --------------------------------------> |
//     |  accepted                               |   or a failure
//     | <-------------------------------------- |
//
// Proofs are HMACs over both nonces, both names and the side, so that neither can be used again or reflected.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <pinion/rpc/connection.hpp>
#include <pinion/rpc/failure.hpp>
#include <pinion/rpc/frame.hpp>
#include <pinion/rpc/network.hpp>
#include <pinion/rpc/security.hpp>

namespace pinion::inline v0::rpc {

inline constexpr std::uint32_t protocol_version = 1;

enum class lane : std::uint8_t { data, control };

// What the two sides of a connection say of themselves.
struct hello {
  std::uint32_t version = protocol_version;
  rpc::lane lane{};
  std::uint64_t channel = 0;  // the same for both lanes of a channel
  std::string from;           // "/job:worker/replica:0/task:1", or "" for a client that is no task
  std::uint64_t incarnation = 0;
  std::string to;  // the task it expects here; "" takes whoever it is
  std::string nonce;
  template <class A>
  void serialize(A& a) {
    a(version, lane, channel, from, incarnation, to, nonce);
  }
};
struct welcome {
  std::string name;
  std::uint64_t incarnation = 0;
  std::string nonce, proof;
  template <class A>
  void serialize(A& a) {
    a(name, incarnation, nonce, proof);
  }
};

// A task, as others know it. An incarnation is one life of it: a random number, never 0.
struct identity {
  std::string name;
  std::uint64_t incarnation = 0;
  std::string key;  // shared; empty: none
};

namespace detail {

inline constexpr limits handshake_limits{.control = 4096, .payload = 0};

inline awaitable<void> read_exactly(byte_stream& stream, std::span<std::byte> into) {
  while (!into.empty()) {
    const std::size_t n = co_await stream.read_some(into);
    if (n == 0) throw error(errc::unavailable, "the peer closed the connection during the handshake");
    into = into.subspan(n);
  }
}

// A frame of the handshake; throws the failure if that is what comes.
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

inline std::string statement(std::string_view side, const hello& h, const welcome& w) {
  return std::string(side) + '|' + h.nonce + '|' + w.nonce + '|' + h.from + '|' + w.name + '|' +
         std::to_string(h.channel) + '|' + std::to_string(static_cast<int>(h.lane)) + '|' +
         std::to_string(w.incarnation);
}

// One of another size could hold what belongs to its neighbours in the statement.
inline void check_nonce(const std::string& theirs, const std::string& who) {
  if (theirs.size() != nonce_size)
    throw error(errc::data_loss, (who.empty() ? "the client" : who) + " gives a number used once of " +
                                     std::to_string(theirs.size()) + " bytes, where it has " +
                                     std::to_string(nonce_size));
}

}  // namespace detail

// Throws what the server refuses with, or why this side refuses the server.
inline awaitable<welcome> greet(byte_stream& stream, hello mine, std::string key, std::string address) {
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

namespace detail {

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

}  // namespace detail

// Throws after it has told the client why.
inline awaitable<hello> receive_guest(byte_stream& stream, identity me) {
  std::optional<error> refused;
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
    refused = current_error();
  }
  if (refused) {
    co_await detail::say(stream, frame_kind::failure, encode_failure(*refused));
    throw *refused;
  }
  co_await detail::say(stream, frame_kind::hello, message());
  co_return theirs;
}

}  // namespace pinion::inline v0::rpc
