// The first messages on a connection: the two sides agree on a version, name themselves and prove that they know the
// key.
//
//   client                                   server
//     |  opening: the versions it speaks       |
//     | -------------------------------------> |
//     |  opening: the version chosen           |   or a refusal
//     | <------------------------------------- |
//     |  hello: lane, who, whom, heartbeat     |
//     | -------------------------------------> |
//     |  welcome: who, nonce, asks for a key?  |   or a failure
//     | <------------------------------------- |
//     |  proof of the client                   |
//     | -------------------------------------> |
//     |  proof of the server                   |   or a failure
//     | <------------------------------------- |
//
// The client proves first, so a stranger gets no proof from a server. A proof is made over all that was said before
// it: both ranges of versions, both names and incarnations, channel, lane and both nonces; over TLS also over a value
// that only the two ends of that TLS connection know. So it is good for this connection alone, and a proof of one side
// is none of the other.
#pragma once

#include <functional>
#include <string>

#include <pinion/base/config.hpp>
#include <pinion/rpc/frame.hpp>
#include <pinion/rpc/message.hpp>
#include <pinion/rpc/opening.hpp>
#include <pinion/rpc/security/credentials.hpp>
#include <pinion/rpc/transport/network.hpp>

namespace pinion { inline namespace v0 { namespace rpc {

enum class lane : std::uint8_t { data, control };

// The longest time between two heartbeats that a client may state.
inline constexpr duration longest_heartbeat = std::chrono::seconds(60);

// The statements of the two sides of a connection about themselves.
struct hello {
  rpc::lane lane{};
  std::uint64_t channel = 0;  // equal for both lanes of a channel
  std::string from;           // "/job:worker/replica:0/task:1", or "" for a client that is no task
  std::uint64_t incarnation = 0;
  std::string to;                     // the task it expects here; "" accepts any
  std::uint32_t heartbeat_ms = 5000;  // a client that is silent for two of its heartbeats is gone
  std::string nonce;
  std::string address = {};  // where the client is reached, if it is an elastic task
  std::uint64_t spec = 0;    // of such a task: a digest of the tasks in its cluster spec
  duration heartbeat() const { return std::chrono::milliseconds(heartbeat_ms); }
  template <class A>
  void serialize(A& a) {
    a(lane, channel, from, incarnation, to, heartbeat_ms, nonce, address, spec);
  }
};
struct welcome {
  std::string name;
  std::uint64_t incarnation = 0;
  bool keyed = false;  // does it ask for a proof, and give one?
  std::string nonce;
  std::string on_host = {};  // its address for processes of its own host; "": it has none
  template <class A>
  void serialize(A& a) {
    a(name, incarnation, keyed, nonce, on_host);
  }
};

// A task or client as others know it, and what it shows them. An incarnation is one life of the process, a number other
// than 0: that of a task grows from life to life.
struct identity {
  std::string name;
  std::uint64_t incarnation = 0;
  credentials shows = {};
  versions speaks = spoken_versions;
  std::string on_host = {};  // of a server: its address for processes of its own host
};

namespace detail {

// The text over which both sides compute their proofs. Every part of it has its length, so no two conversations have
// one text.
std::string statement(const agreement& v, const hello& h, const welcome& w, const std::string& binding);
// Throws unless the nonce has its fixed size, so that nobody makes this side prove something with an empty one.
void check_nonce(const std::string& theirs, const std::string& who);

}  // namespace detail

// Performs the client's side. Throws the server's refusal, or the reason why this side refuses the server.
awaitable<welcome> greet(byte_stream& stream, hello mine, identity me, std::string address);

// Performs the server's side. If it refuses, it tells the client why and then throws. A client that has proven itself
// is shown to `admits`, which throws to refuse it and outlives the call; an empty one admits any.
awaitable<hello> receive_hello(byte_stream& stream, identity me, const std::function<void(const hello&)>& admits);

}}}  // namespace pinion::v0::rpc

#if PINION_HEADER_ONLY
#include <pinion/rpc/handshake.ipp>
#endif
