// One who connects to a port and says what he likes.
#pragma once

#include <poll.h>

#include <string>

#include <distributed/real_cluster.hpp>

// A connection to "127.0.0.1:port".
class stranger {
 public:
  explicit stranger(const std::string& address) : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_port = htons(static_cast<std::uint16_t>(std::stoi(address.substr(address.rfind(':') + 1))));
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connected_ = ::connect(socket_, reinterpret_cast<sockaddr*>(&at), sizeof at) == 0;
  }
  stranger(const stranger&) = delete;
  ~stranger() { ::close(socket_); }

  bool connected() const { return connected_; }
  bool say(const std::string& bytes) const {
    return ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(bytes.size());
  }
  // Says no more, and returns what the server says until it closes the connection.
  std::string hear() const {
    ::shutdown(socket_, SHUT_WR);
    std::string said;
    for (char c = 0; ::recv(socket_, &c, 1, 0) == 1;) said += c;
    return said;
  }
  // Has the server closed the connection, within a tenth of a second?
  bool is_closed() const {
    pollfd it{socket_, POLLIN, 0};
    char c = 0;
    return ::poll(&it, 1, 100) == 1 && ::recv(socket_, &c, 1, 0) <= 0;
  }

 private:
  const int socket_;
  bool connected_ = false;
};

// Returns what the server at "127.0.0.1:port" answers to some bytes, until it closes the connection.
inline std::string said_to(const std::string& address, const std::string& bytes) {
  const stranger one(address);
  return one.connected() && one.say(bytes) ? one.hear() : "";
}
