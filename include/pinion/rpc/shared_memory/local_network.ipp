// Bodies of <pinion/rpc/shared_memory/local_network.hpp>.
#pragma once

#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include <pinion/base/error.hpp>
#include <pinion/rpc/security/security.hpp>
#include <pinion/rpc/shared_memory/local_network.hpp>
#include <pinion/rpc/shared_memory/ring_stream.hpp>

namespace pinion { inline namespace v0 { namespace rpc {

namespace detail {

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

class local_listener final : public listener {
 public:
  local_listener(asio::io_context& context, poll_list& polls, std::shared_ptr<slab_account> account, std::string name)
      : acceptor_(context), polls_(polls), account_(std::move(account)), name_(std::move(name)) {
    acceptor_.open();
    keep_from_children(acceptor_.native_handle());
    acceptor_.bind(local_endpoint(name_));
    acceptor_.listen();
  }
  awaitable<std::unique_ptr<byte_stream>> accept() override {
    for (;;) {
      asio::error_code failed;
      local_socket socket = co_await acceptor_.async_accept(telling(failed));
      if (failed && acceptor_.is_open())
        throw error(errc::unavailable, "cannot take a connection: " + failed.message());
      if (failed) throw error(errc::cancelled, "the listener of this host was closed");
      if (is_own(socket.native_handle())) co_return std::make_unique<ring_stream>(std::move(socket), polls_, account_);
    }
  }
  const std::string& address() const override { return name_; }
  void close() noexcept override {
    asio::error_code ignored;
    acceptor_.close(ignored);
  }

 private:
  asio::local::stream_protocol::acceptor acceptor_;
  poll_list& polls_;
  const std::shared_ptr<slab_account> account_;
  const std::string name_;
};

inline constexpr std::size_t letters_of_name = 32;

}  // namespace detail

PINION_DECL bool is_name_on_host(const std::string& name) {
  return name.size() == detail::letters_of_name && name.find_first_not_of("0123456789abcdef") == name.npos;
}

PINION_DECL std::unique_ptr<listener> listen_on_host(asio::io_context& context, poll_list& polls,
                                                     std::shared_ptr<slab_account> account) {
  std::string name;
  while (name.size() < detail::letters_of_name) name += "0123456789abcdef"[random_number() % 16];
  try {
    return std::make_unique<detail::local_listener>(context, polls, std::move(account), name);
  } catch (const asio::system_error&) {
    return nullptr;
  }
}

PINION_DECL awaitable<std::unique_ptr<byte_stream>> connect_on_host(asio::io_context& context, poll_list& polls,
                                                                    std::string name,
                                                                    std::shared_ptr<slab_account> account) {
  detail::local_socket socket(context);
  asio::error_code failed;
  co_await socket.async_connect(detail::local_endpoint(name), telling(failed));
  if (failed) throw error(errc::unavailable, "cannot connect to a socket of this host: " + failed.message());
  if (!detail::is_own(socket.native_handle()))
    throw error(errc::unavailable, "the socket of this host belongs to another user");
  auto memory = shared_memory::make(account);
  if (!detail::send_file(socket.native_handle(), memory->mapping().file().get()))
    throw error(errc::unavailable,
                std::string("cannot give memory to a process of this host: ") + std::strerror(errno));
  memory->mapping().close_file();
  co_return std::make_unique<detail::ring_stream>(std::move(socket), polls, std::move(account), std::move(memory));
}

}}}  // namespace pinion::v0::rpc
