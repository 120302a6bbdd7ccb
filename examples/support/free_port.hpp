// A free port of the loopback, kept for somebody else.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include <pinion/base/error.hpp>

// While this is there, the system gives the port to nobody who asks for just any; who asks for this one, and sets
// SO_REUSEADDR as servers do, may listen there. So no other program slips in between finding a port and serving at it.
class free_port {
 public:
  free_port() : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    const int yes = 1;
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof at;
    if (::setsockopt(socket_, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) != 0 ||
        ::bind(socket_, reinterpret_cast<sockaddr*>(&at), size) != 0 ||
        ::getsockname(socket_, reinterpret_cast<sockaddr*>(&at), &size) != 0)
      throw pinion::error(pinion::errc::unavailable, std::string("found no free port: ") + std::strerror(errno));
    address_ = "127.0.0.1:" + std::to_string(ntohs(at.sin_port));
  }
  free_port(free_port&& o) noexcept : socket_(std::exchange(o.socket_, -1)), address_(std::move(o.address_)) {}
  ~free_port() {
    if (socket_ >= 0) ::close(socket_);
  }

  const std::string& address() const { return address_; }

 private:
  int socket_;
  std::string address_;
};
