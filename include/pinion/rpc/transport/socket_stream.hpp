// A connected socket of Asio as a byte stream, whatever its protocol.
#pragma once

#include <fcntl.h>
#include <linux/sockios.h>
#include <sys/ioctl.h>

#include <atomic>
#include <string>
#include <utility>

#include <pinion/base/config.hpp>
#include <pinion/base/error.hpp>
#include <pinion/rpc/transport/asio_io.hpp>
#include <pinion/rpc/transport/network.hpp>

namespace pinion { inline namespace v0 { namespace rpc { namespace detail {

// asio::async_write moves at most 64 KiB at a time unless told otherwise. Counts what it has moved.
struct all_at_once {
  std::atomic<std::uint64_t>* count;
  std::uint64_t before;
  std::size_t operator()(const asio::error_code& failed, std::size_t moved) const {
    count->store(before + moved, std::memory_order_relaxed);
    return failed ? 0 : std::size_t{64} << 20;
  }
};

// Programs that this process starts must not inherit its ports and connections.
inline void keep_from_children(int socket) {
  ::fcntl(socket, F_SETFD, FD_CLOEXEC);
}

inline error broken(const std::string& peer, const asio::error_code& why) {
  return error(errc::unavailable, "the connection with " + peer + " broke: " + why.message());
}

// Owns the socket. Used as a byte_stream is.
template <class Socket>
class socket_stream : public byte_stream {
 public:
  socket_stream(Socket socket, std::string peer) : socket_(std::move(socket)), peer_(std::move(peer)) {
    asio::error_code ignored;
    keep_from_children(socket_.native_handle());
    socket_.non_blocking(true, ignored);  // for read_now and write_now, and before threads share the socket
  }

  awaitable<std::size_t> read_some(std::span<std::byte> into) override {
    asio::error_code failed;
    const std::size_t n = co_await socket_.async_read_some(asio::buffer(into.data(), into.size()), telling(failed));
    if (failed == asio::error::eof) co_return 0;
    if (failed) throw broken(peer_, failed);
    co_return n;
  }
  awaitable<void> write(std::span<const asio::const_buffer> parts) override {
    asio::error_code failed;
    co_await asio::async_write(socket_, parts, all_at_once{&accepted_, accepted_}, telling(failed));
    if (failed) throw broken(peer_, failed);
  }
  std::size_t write_now(std::span<const asio::const_buffer> parts) override {
    asio::error_code failed;  // write() will fail with the same error, and report it
    const std::size_t n = socket_.write_some(parts, failed);
    accepted_.fetch_add(n, std::memory_order_relaxed);
    return n;
  }
  std::size_t read_now(std::span<std::byte> into) override {
    asio::error_code failed;  // read_some() will fail with the same error, and report it
    return socket_.read_some(asio::buffer(into.data(), into.size()), failed);
  }
  void finish() noexcept override {
    asio::error_code ignored;
    socket_.shutdown(asio::socket_base::shutdown_send, ignored);
  }
  void close() noexcept override {
    asio::error_code ignored;
    socket_.shutdown(asio::socket_base::shutdown_both, ignored);
    socket_.close(ignored);
  }
  rpc::outflow outflow() const override {
    const std::uint64_t accepted = accepted_.load(std::memory_order_relaxed);  // first: others may write meanwhile
    int bytes = 0;
    const int socket = const_cast<Socket&>(socket_).native_handle();
    if (::ioctl(socket, SIOCOUTQ, &bytes) != 0) bytes = 0;
    return {accepted, static_cast<std::uint64_t>(bytes)};
  }
  std::string peer() const override { return peer_; }

 protected:
  Socket socket_;
  std::atomic<std::uint64_t> accepted_{0};
  const std::string peer_;
};

}}}}  // namespace pinion::v0::rpc::detail
