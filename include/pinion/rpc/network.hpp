// What the protocol stands on: byte streams, listeners, timers and waiting, over TCP or simulated.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include <pinion/base/config.hpp>
#include <pinion/base/countdown.hpp>
#include <pinion/rpc/asio.hpp>

namespace pinion { inline namespace v0 { namespace rpc {

using duration = std::chrono::steady_clock::duration;

// One end of a connection: bytes arrive in the order in which they were sent, or the stream breaks. Used by the thread
// of its network, but for write_now. Operations under way fail with unavailable when it breaks or is closed.
class byte_stream {
 public:
  virtual ~byte_stream() = default;
  // At least one byte; 0 when the peer closed the stream.
  virtual awaitable<std::size_t> read_some(std::span<std::byte> into) = 0;
  // Everything. The bytes stay where they are until it returns. One write at a time.
  virtual awaitable<void> write(std::span<const asio::const_buffer> parts) = 0;
  // As much as goes without waiting, in any thread, but not beside write() or close(). May always be 0.
  virtual std::size_t write_now(std::span<const asio::const_buffer> parts) = 0;
  virtual void close() noexcept = 0;
};

// Takes connections until it is closed; then accept() throws cancelled. Closing frees the port at once.
class listener {
 public:
  virtual ~listener() = default;
  virtual awaitable<std::unique_ptr<byte_stream>> accept() = 0;
  virtual const std::string& address() const = 0;  // "host:port", with the port that was bound
  virtual void close() noexcept = 0;
};

// Used by the thread of its network.
class timer {
 public:
  virtual ~timer() = default;
  // True at that time; false if cancelled. One wait at a time.
  virtual awaitable<bool> wait_until(time_point when) = 0;
  virtual void cancel() noexcept = 0;
};

// The thread in which all protocol state lives, and the ways out of it. Everything posted or spawned runs in that one
// thread, one after the other, so that what only it touches needs no lock. Shared by the servers and sessions that use
// it; must not be released by its own thread.
class network {
 public:
  virtual ~network() = default;
  virtual asio::io_context& context() = 0;
  virtual time_point now() const = 0;
  virtual std::unique_ptr<rpc::timer> make_timer() = 0;
  // Throws unavailable when nobody listens there, deadline_exceeded when nothing answers in time.
  virtual awaitable<std::unique_ptr<byte_stream>> connect(std::string address, time_point deadline) = 0;
  // "host:port"; port 0 binds a free one. Throws already_exists when the address is taken.
  virtual std::unique_ptr<rpc::listener> listen(const std::string& address) = 0;
  // Blocks a thread of the caller's until it is done, or until the deadline: false. Never called by the network's own.
  virtual bool wait(countdown& event, const std::optional<time_point>& deadline) = 0;

  void post(std::function<void()> body);
  void spawn(awaitable<void> coroutine);
};

// Blocks until what was posted so far, and what that posted in turn, has run. Not for the network's own thread.
void settle(network& net);

// "127.0.0.1" and "2222" of "127.0.0.1:2222"; brackets around an IPv6 host are taken off.
struct endpoint {
  std::string host, port;
  explicit endpoint(const std::string& address);
  bool is_loopback() const;
};

}}}  // namespace pinion::v0::rpc

#if PINION_HEADER_ONLY
#include <pinion/rpc/network.ipp>
#endif
