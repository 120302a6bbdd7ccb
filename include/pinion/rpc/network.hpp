// What the protocol stands on: byte streams, listeners, timers and waiting, over TCP or simulated.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <pinion/base/countdown.hpp>
#include <pinion/base/error.hpp>
#include <pinion/base/said_wait.hpp>
#include <pinion/rpc/asio.hpp>

namespace pinion::inline v0::rpc {

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
  // May a wait be in vain because everything happens in the waiting thread? Then who uses it must start no threads.
  virtual bool single_threaded() const { return false; }

  void post(std::function<void()> body) { asio::post(context(), std::move(body)); }
  void spawn(awaitable<void> coroutine) { asio::co_spawn(context(), std::move(coroutine), asio::detached); }
};

// Blocks until what was posted so far, and what that posted in turn, has run. Not for the network's own thread.
inline void settle(network& net) {
  countdown done;
  net.post([&] { net.post([&] { done.count_down(); }); });
  pinion::detail::wait_and_say([&](auto time) { return net.wait(done, net.now() + time); },
                               [] { return "what stops waits for the network's thread, which is busy or is held up"; });
}

// "127.0.0.1" and "2222" of "127.0.0.1:2222"; brackets around an IPv6 host are taken off.
struct endpoint {
  std::string host, port;
  explicit endpoint(const std::string& address) {
    const auto colon = std::min(address.rfind(':'), address.size());
    host = address.substr(0, colon);
    port = address.substr(std::min(colon + 1, address.size()));
    const bool number = !port.empty() && port.size() <= 5 && port.find_first_not_of("0123456789") == port.npos;
    if (!number || std::stoi(port) > 65535)
      throw error(errc::invalid_argument,
                  "the address '" + address + "' is not of the form host:port, with a port from 0 to 65535");
    if (host.size() > 2 && host.front() == '[' && host.back() == ']') host = host.substr(1, host.size() - 2);
  }
  bool is_loopback() const {
    asio::error_code no_number;
    const auto number = asio::ip::make_address(host, no_number);
    return host == "localhost" || (!no_number && number.is_loopback());
  }
};

}  // namespace pinion::inline v0::rpc
