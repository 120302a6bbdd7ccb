// One who connects to a port and says what he likes.
#pragma once

#include <string>

#include <distributed/real_cluster.hpp>

// Returns what the server at "127.0.0.1:port" answers to some bytes, until it closes the connection.
inline std::string said_to(const std::string& address, const std::string& bytes) {
  const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_port = htons(static_cast<std::uint16_t>(std::stoi(address.substr(address.rfind(':') + 1))));
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  std::string said;
  if (::connect(socket, reinterpret_cast<sockaddr*>(&at), sizeof at) == 0 &&
      ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL) >= 0) {
    ::shutdown(socket, SHUT_WR);
    for (char c = 0; ::recv(socket, &c, 1, 0) == 1;) said += c;
  }
  ::close(socket);
  return said;
}
