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

#include <string>
#include <string_view>

#include <pinion/base/config.hpp>
#include <pinion/rpc/frame.hpp>
#include <pinion/rpc/message.hpp>
#include <pinion/rpc/network.hpp>

namespace pinion { inline namespace v0 { namespace rpc {

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

// The text of which a side gives a proof.
std::string statement(std::string_view side, const hello& h, const welcome& w);
// One of another size could hold what belongs to its neighbours in the statement.
void check_nonce(const std::string& theirs, const std::string& who);

}  // namespace detail

// Throws what the server refuses with, or why this side refuses the server.
awaitable<welcome> greet(byte_stream& stream, hello mine, std::string key, std::string address);

// Throws after it has told the client why.
awaitable<hello> receive_guest(byte_stream& stream, identity me);

}}}  // namespace pinion::v0::rpc

#if PINION_HEADER_ONLY
#include <pinion/rpc/handshake.ipp>
#endif
