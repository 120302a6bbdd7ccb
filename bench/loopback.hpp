// Bare TCP sockets on the loopback, for what channels are measured beside.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <cstdint>
#include <stdexcept>

namespace bench {

inline sockaddr_in loopback(int port) {
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  at.sin_port = htons(static_cast<std::uint16_t>(port));
  return at;
}

inline int listen_anywhere(int& port) {
  const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in at = loopback(0);
  ::bind(fd, reinterpret_cast<sockaddr*>(&at), sizeof at);
  ::listen(fd, 2);
  socklen_t length = sizeof at;
  ::getsockname(fd, reinterpret_cast<sockaddr*>(&at), &length);
  port = ntohs(at.sin_port);
  return fd;
}

inline int connect_to(int port) {
  const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
  const sockaddr_in at = loopback(port);
  if (::connect(fd, reinterpret_cast<const sockaddr*>(&at), sizeof at) != 0)
    throw std::runtime_error("nobody listens on the port");
  return fd;
}

}  // namespace bench
