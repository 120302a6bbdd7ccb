// Bodies of <pinion/rpc/local_network.hpp>.
#pragma once

#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <utility>

#include <asio/local/stream_protocol.hpp>

#include <pinion/base/error.hpp>
#include <pinion/base/outcome.hpp>
#include <pinion/rpc/local_network.hpp>
#include <pinion/rpc/security.hpp>
#include <pinion/rpc/shared_memory.hpp>
#include <pinion/rpc/socket_stream.hpp>

namespace pinion { inline namespace v0 { namespace rpc {

namespace detail {

using local_socket = asio::local::stream_protocol::socket;

// A name in the abstract namespace, which is gone with its socket.
inline asio::local::stream_protocol::endpoint local_endpoint(const std::string& name) {
  return {std::string(1, '\0') + "pinion/" + name};
}

// Is the process at the other end one of this user's?
inline bool is_own(int socket) {
  ucred other{};
  socklen_t size = sizeof other;
  return ::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &other, &size) == 0 && other.uid == ::geteuid();
}

// Room for one descriptor that goes beside bytes.
struct beside_bytes {
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> room{};
  iovec bytes{};
  msghdr header{};
  beside_bytes(const void* data, std::size_t size) : bytes{const_cast<void*>(data), size} {
    header.msg_iov = &bytes;
    header.msg_iovlen = 1;
    header.msg_control = room.data();
    header.msg_controllen = room.size();
  }
  beside_bytes(const beside_bytes&) = delete;
};

inline ssize_t send_with(int socket, const asio::const_buffer& bytes, int file) {
  beside_bytes both(bytes.data(), bytes.size());
  cmsghdr* const it = CMSG_FIRSTHDR(&both.header);
  it->cmsg_level = SOL_SOCKET;
  it->cmsg_type = SCM_RIGHTS;
  it->cmsg_len = CMSG_LEN(sizeof file);
  std::memcpy(CMSG_DATA(it), &file, sizeof file);
  return ::sendmsg(socket, &both.header, MSG_NOSIGNAL | MSG_DONTWAIT);
}

// Keeps one descriptor, and closes what else comes.
inline ssize_t receive_with(int socket, std::span<std::byte> into, descriptor& file) {
  beside_bytes both(into.data(), into.size());
  const ssize_t n = ::recvmsg(socket, &both.header, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
  const cmsghdr* const it = n > 0 ? CMSG_FIRSTHDR(&both.header) : nullptr;
  if (!it || it->cmsg_level != SOL_SOCKET || it->cmsg_type != SCM_RIGHTS) return n;
  for (std::size_t at = CMSG_LEN(0); at + sizeof(int) <= it->cmsg_len; at += sizeof(int)) {
    int fd = -1;
    std::memcpy(&fd, reinterpret_cast<const char*>(it) + at, sizeof fd);
    file = descriptor(fd);
  }
  return n;
}

// A client's end offers its memory with the first bytes that it writes; a server's end takes what comes with the first
// that it reads.
class local_stream final : public socket_stream<local_socket> {
 public:
  local_stream(local_socket socket, side mine)
      : socket_stream(std::move(socket), "a process of this host"), side_(mine) {}

  awaitable<void> write(std::span<const asio::const_buffer> parts) override {
    std::size_t skip = 0;
    if (side_ == side::client && !std::exchange(met_, true)) skip = co_await offer(parts[0]);
    if (skip == asio::buffer_size(parts)) co_return;
    std::vector<asio::const_buffer> rest(parts.begin(), parts.end());
    rest[0] += skip;
    co_await socket_stream::write(rest);
  }
  awaitable<std::size_t> read_some(std::span<std::byte> into) override {
    if (side_ == side::client || std::exchange(met_, true)) co_return co_await socket_stream::read_some(into);
    co_return co_await accept_offer(into);
  }
  std::size_t write_now(std::span<const asio::const_buffer> parts) override {
    return side_ == side::server || met_ ? socket_stream::write_now(parts) : 0;
  }
  std::shared_ptr<shared_memory> memory() override { return memory_; }

 private:
  awaitable<std::size_t> offer(asio::const_buffer first) {
    const outcome<> made = outcome_of([&] { memory_ = shared_memory::make(); });
    if (!made) co_return 0;
    co_await ready(local_socket::wait_write);
    const ssize_t n = send_with(socket_.native_handle(), first, memory_->file().get());
    if (n <= 0) throw error(errc::unavailable, "the connection with " + peer_ + " broke: " + std::strerror(errno));
    accepted_ += static_cast<std::size_t>(n);
    co_return static_cast<std::size_t>(n);
  }
  awaitable<std::size_t> accept_offer(std::span<std::byte> into) {
    co_await ready(local_socket::wait_read);
    descriptor file;
    const ssize_t n = receive_with(socket_.native_handle(), into, file);
    if (n < 0) throw error(errc::unavailable, "the connection with " + peer_ + " broke: " + std::strerror(errno));
    if (file) memory_ = shared_memory::adopt(std::move(file));
    co_return static_cast<std::size_t>(n);
  }
  awaitable<void> ready(local_socket::wait_type what) {
    try {
      co_await socket_.async_wait(what, asio::use_awaitable);
    } catch (const asio::system_error& e) {
      throw broken(peer_, e.code());
    }
  }

  const side side_;
  bool met_ = false;
  std::shared_ptr<shared_memory> memory_;
};

class local_listener final : public listener {
 public:
  local_listener(asio::io_context& context, std::string name) : acceptor_(context), name_(std::move(name)) {
    acceptor_.open();
    keep_from_children(acceptor_.native_handle());
    acceptor_.bind(local_endpoint(name_));
    acceptor_.listen();
  }
  awaitable<std::unique_ptr<byte_stream>> accept() override {
    for (;;) {
      local_socket socket(acceptor_.get_executor());
      try {
        socket = co_await acceptor_.async_accept(asio::use_awaitable);
      } catch (const asio::system_error& e) {
        if (acceptor_.is_open()) throw error(errc::unavailable, "cannot take a connection: " + e.code().message());
        throw error(errc::cancelled, "the listener of this host was closed");
      }
      if (is_own(socket.native_handle())) co_return std::make_unique<local_stream>(std::move(socket), side::server);
    }
  }
  const std::string& address() const override { return name_; }
  void close() noexcept override {
    asio::error_code ignored;
    acceptor_.close(ignored);
  }

 private:
  asio::local::stream_protocol::acceptor acceptor_;
  const std::string name_;
};

inline constexpr std::size_t letters_of_name = 32;

}  // namespace detail

PINION_DECL bool is_name_on_host(const std::string& name) {
  return name.size() == detail::letters_of_name && name.find_first_not_of("0123456789abcdef") == name.npos;
}

PINION_DECL std::unique_ptr<listener> listen_on_host(asio::io_context& context) {
  std::string name;
  while (name.size() < detail::letters_of_name) name += "0123456789abcdef"[random_number() % 16];
  try {
    return std::make_unique<detail::local_listener>(context, name);
  } catch (const asio::system_error&) {
    return nullptr;
  }
}

PINION_DECL awaitable<std::unique_ptr<byte_stream>> connect_on_host(asio::io_context& context, std::string name) {
  detail::local_socket socket(context);
  try {
    co_await socket.async_connect(detail::local_endpoint(name), asio::use_awaitable);
  } catch (const asio::system_error& e) {
    throw error(errc::unavailable, "cannot connect to a socket of this host: " + e.code().message());
  }
  if (!detail::is_own(socket.native_handle()))
    throw error(errc::unavailable, "the socket of this host belongs to another user");
  co_return std::make_unique<detail::local_stream>(std::move(socket), side::client);
}

}}}  // namespace pinion::v0::rpc
