// The first messages on a connection: the two sides name themselves and prove that they know the key.
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

// The statements of the two sides of a connection about themselves.
struct hello {
  std::uint32_t version = protocol_version;
  rpc::lane lane{};
  std::uint64_t channel = 0;  // equal for both lanes of a channel
  std::string from;           // "/job:worker/replica:0/task:1", or "" for a client that is no task
  std::uint64_t incarnation = 0;
  std::string to;  // the task it expects here; "" accepts any
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

// A task as others know it. An incarnation is one life of the process, a random number other than 0.
struct identity {
  std::string name;
  std::uint64_t incarnation = 0;
  std::string key;  // the shared key; empty: none
};

namespace detail {

// The text over which a side computes its proof.
std::string statement(std::string_view side, const hello& h, const welcome& w);
// Throws unless the nonce has its fixed size: one of another size could imitate its neighbours in the statement.
void check_nonce(const std::string& theirs, const std::string& who);

}  // namespace detail

// Performs the client's side. Throws the server's refusal, or the reason why this side refuses the server.
awaitable<welcome> greet(byte_stream& stream, hello mine, std::string key, std::string address);

// Performs the server's side. If it refuses, it tells the client why and then throws.
awaitable<hello> receive_guest(byte_stream& stream, identity me);

}}}  // namespace pinion::v0::rpc

#if PINION_HEADER_ONLY
#include <pinion/rpc/handshake.ipp>
#endif
