// The interfaces under the protocol: byte streams, listeners, timers and waiting, over TCP or simulated.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/base/countdown.hpp>
#include <pinion/base/process.hpp>
#include <pinion/rpc/transport/asio.hpp>

namespace pinion { inline namespace v0 {

class error;
class memory_slab;

namespace rpc {

using duration = std::chrono::steady_clock::duration;

// The bytes that a stream has taken to be sent, and those of them that the peer's system has not yet taken.
struct outflow {
  std::uint64_t accepted = 0, on_the_way = 0;
};

class shared_memory;
class slab_account;

// One end of a connection. Bytes arrive in the order in which they were sent, or the stream breaks. Used by its
// network's thread only, except for write_now. When the stream breaks or is closed, pending operations fail with
// unavailable.
class byte_stream {
 public:
  virtual ~byte_stream() = default;
  // Reads at least one byte; returns 0 when the peer has closed the stream.
  virtual awaitable<std::size_t> read_some(std::span<std::byte> into) = 0;
  // Writes all bytes, which must stay in place until it returns. One write at a time.
  virtual awaitable<void> write(std::span<const asio::const_buffer> parts) = 0;
  // Writes as much as is possible without waiting, in any thread, but never during write() or close(). May always
  // return 0.
  virtual std::size_t write_now(std::span<const asio::const_buffer> parts) = 0;
  // Reads what has arrived, without waiting. May always return 0; read_some tells of the end and of failures.
  virtual std::size_t read_now(std::span<std::byte> into) = 0;
  // Writes as much as is possible without waiting, in the network's thread, before close(); the rest is lost.
  virtual void write_last(std::span<const asio::const_buffer> parts) { write_now(parts); }
  // Tells the peer that nothing more will be written; reading goes on. A peer that is still writing hears of what was
  // written before, which a close() may destroy on its way.
  virtual void finish() noexcept = 0;
  virtual void close() noexcept = 0;
  // The bytes written so far, and how far they came; zeros where that is not known. In the network's thread.
  virtual rpc::outflow outflow() const { return {}; }
  // The address of the peer, for messages.
  virtual std::string peer() const = 0;
  // A secret of this stream that only its two ends know, and that nobody between them can make equal; "" if there is
  // none, since the stream is not encrypted.
  virtual std::string binding() const { return {}; }
  // Are both ends at one address, and so in one host?
  virtual bool stays_on_host() const { return false; }
  // The memory that this end shares with the other, as soon as it has read; null if there is none.
  virtual std::shared_ptr<shared_memory> memory() { return nullptr; }
  // Shows the other end a slab of this process, of which it then reads. Returns false if that cannot be done now. In
  // any thread, but never during close(). Requires: there is shared memory.
  virtual bool show(const std::shared_ptr<const memory_slab>& slab) { return static_cast<void>(slab), false; }
  // Takes the slabs that the other end has shown.
  virtual void take_shown() {}
  // Throws unauthenticated if the peer has shown who it is, and it is not that task.
  virtual void expect_peer(const std::string& task) const { static_cast<void>(task); }
};

// Accepts connections until it is closed; then accept() throws cancelled. Closing frees the port at once.
class listener {
 public:
  virtual ~listener() = default;
  virtual awaitable<std::unique_ptr<byte_stream>> accept() = 0;
  virtual const std::string& address() const = 0;  // "host:port", with the port that was bound
  virtual void close() noexcept = 0;
};

// A timer. Used by its network's thread only.
class timer {
 public:
  virtual ~timer() = default;
  // Waits until `when` and returns true, or false if cancelled. One wait at a time.
  virtual awaitable<bool> wait_until(time_point when) = 0;
  virtual void cancel() noexcept = 0;
};

// The thread in which all protocol state lives, and the connections out of it. All posted functions and spawned
// coroutines run in that one thread, one after the other, so that state used only there needs no lock. Shared by the
// servers and sessions that use it. The network's own thread must not release the last reference.
class network {
 public:
  virtual ~network() = default;
  virtual asio::io_context& context() = 0;
  virtual time_point now() const = 0;
  virtual std::unique_ptr<rpc::timer> make_timer() = 0;
  // A random number, so that those who wait for one thing do not all try at once. Not a secret. In the network's
  // thread.
  virtual std::uint64_t draw() = 0;
  // Connects to "host:port", trying the addresses of the host in turn. Throws unavailable if no process listens there,
  // deadline_exceeded if there is no answer in time.
  virtual awaitable<std::unique_ptr<byte_stream>> connect(std::string address, time_point deadline) = 0;
  // Listens on "host:port", at all addresses of the host; port 0 binds a free port. Throws already_exists if the
  // address is taken.
  virtual std::unique_ptr<rpc::listener> listen(const std::string& address) = 0;
  // Listens for processes of this host alone, under an address that no other listener has; null where that is not
  // possible. Connects to such a listener; throws unavailable if there is none.
  // The account counts the slabs that peers show.
  virtual std::unique_ptr<rpc::listener> listen_on_host(std::shared_ptr<slab_account>) { return nullptr; }
  virtual awaitable<std::unique_ptr<byte_stream>> connect_on_host(std::string address,
                                                                  std::shared_ptr<slab_account> account);
  // Blocks the calling thread until the event is done, or until the deadline: then returns false. Not for the network's
  // thread.
  virtual bool wait(countdown& event, const std::optional<time_point>& deadline) = 0;
  // Says that messages will follow each other, since a step begins: the network's thread then looks out for them longer
  // before it sleeps. Thread-safe.
  virtual void expect_more() {}

  // False in the child of a fork(), where nobody serves this network: what is posted and spawned there is dropped, and
  // what waits is refused. Thread-safe.
  bool is_of_this_process() const { return made_in_.is_this(); }

  // A function that throws for want of memory is given up, with a line in the log; the thread goes on.
  void post(std::function<void()> body);
  void spawn(awaitable<void> coroutine);

  // Lends memory of inbox_size bytes to a stream or connection while bytes are there to be read, so that those who are
  // idle need none. In the network's thread. A borrower that ends elsewhere keeps it to itself.
  using inbox = std::unique_ptr<std::byte[]>;
  static constexpr std::size_t inbox_size = std::size_t{1} << 16;
  inbox borrow_inbox();
  void give_back(inbox lent);

 protected:
  const process_mark made_in_;

 private:
  static void tell_failed_work(const error& why) noexcept;
  static constexpr std::size_t most_spare = 4;
  std::vector<inbox> spare_;
};

// Blocks until all functions posted so far have run, and those that they posted. Not for the network's own thread.
void settle(network& net);
// Blocks as settle(net) does, but no longer than `until`. Returns false where some functions may still run then.
bool settle(network& net, time_point until);

// The parts of an address: "127.0.0.1" and "2222" of "127.0.0.1:2222". Brackets around an IPv6 host are removed.
struct endpoint {
  std::string host, port;
  explicit endpoint(const std::string& address);
};

}  // namespace rpc
}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/rpc/transport/network.ipp>
#endif
