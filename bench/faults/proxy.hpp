// A proxy before a task: it carries the bytes of those who connect to the task, until it is told to lose or delay them.
#pragma once

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <deque>
#include <list>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <pinion/rpc/handshake.hpp>

namespace faults {

namespace rpc = pinion::rpc;

inline sockaddr_in socket_address(const std::string& address) {
  const auto colon = address.rfind(':');
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_port = htons(static_cast<std::uint16_t>(std::stoi(address.substr(colon + 1))));
  ::inet_pton(AF_INET, address.substr(0, colon).c_str(), &at.sin_addr);
  return at;
}

// A socket that listens at "host:port"; closed when it goes.
class listening_socket {
 public:
  explicit listening_socket(const std::string& address) : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    const sockaddr_in at = socket_address(address);
    const int yes = 1;
    ::setsockopt(socket_, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (::bind(socket_, reinterpret_cast<const sockaddr*>(&at), sizeof at) != 0 || ::listen(socket_, 64) != 0)
      throw std::runtime_error(fmt::format("cannot listen at {}: {}", address, std::strerror(errno)));
  }
  listening_socket(const listening_socket&) = delete;
  ~listening_socket() { ::close(socket_); }
  int descriptor() const { return socket_; }

 private:
  int socket_;
};

// Carries bytes in a thread of its own, which the destructor ends.
class proxy {
 public:
  proxy(const std::string& from, const std::string& to) : front_(from), to_(socket_address(to)) {
    thread_ = std::thread([this] { carry(); });
  }
  ~proxy() {
    over_ = true;
    thread_.join();
    for (const link& l : links_) l.close();
  }

  // From now on these connections are silent, and nobody is told: what comes from either side is swallowed. Connections
  // that are made later are carried.
  void silence(bool data_lane, bool control_lane) {
    silence_data_ = data_lane;
    silence_control_ = control_lane;
    asked_ = true;
  }
  // From now on each byte travels so much longer.
  void delay(std::chrono::milliseconds by) { delay_ = by.count(); }

 private:
  using clock = std::chrono::steady_clock;
  struct piece {
    clock::time_point due;
    std::string bytes;
  };
  struct way {
    int from, to;
    std::deque<piece> pieces;
  };
  struct link {
    way out, back;  // from the client to the task, and back
    std::string opening;
    std::optional<rpc::lane> lane;
    bool silent = false, dead = false;
    void close() const {
      ::close(out.from);
      ::close(out.to);
    }
  };

  void carry() {
    while (!over_) {
      std::vector<pollfd> sources{{front_.descriptor(), POLLIN, 0}};
      for (const link& l : links_)
        for (const int d : {l.out.from, l.out.to}) sources.push_back({d, POLLIN, 0});
      ::poll(sources.data(), sources.size(), 2);
      if (asked_.exchange(false)) silence_now();
      std::size_t i = 1;
      for (link& l : links_) {
        if (sources[i++].revents != 0) take(l, l.out);
        if (sources[i++].revents != 0) take(l, l.back);
        for (way* w : {&l.out, &l.back}) give(l, *w);
      }
      links_.remove_if([](const link& l) { return l.dead ? l.close(), true : false; });
      if (sources[0].revents != 0) accept();
    }
  }
  void accept() {
    const int client = ::accept4(front_.descriptor(), nullptr, nullptr, SOCK_CLOEXEC);
    const int task = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (::connect(task, reinterpret_cast<const sockaddr*>(&to_), sizeof to_) != 0) {
      ::close(client);
      ::close(task);
      return;
    }
    const int yes = 1;
    for (const int d : {client, task}) {
      ::fcntl(d, F_SETFL, O_NONBLOCK);
      ::setsockopt(d, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    }
    links_.push_back({{client, task, {}}, {task, client, {}}, {}, {}});
  }
  void take(link& l, way& w) {
    std::array<char, 65536> bytes;
    const ssize_t n = ::recv(w.from, bytes.data(), bytes.size(), 0);
    if (n == 0 || (n < 0 && errno != EAGAIN)) l.dead = true;
    if (n <= 0 || l.silent) return;
    if (&w == &l.out && !l.lane) read_lane(l, {bytes.data(), static_cast<std::size_t>(n)});
    w.pieces.push_back({clock::now() + std::chrono::milliseconds(delay_), {bytes.data(), static_cast<std::size_t>(n)}});
  }
  // The client's first message tells which lane the connection is.
  static void read_lane(link& l, const std::string& bytes) {
    constexpr std::size_t opening = 8;
    l.opening += bytes;
    rpc::frame_header h;
    if (l.opening.size() < opening + sizeof h) return;
    std::memcpy(&h, l.opening.data() + opening, sizeof h);
    if (l.opening.size() < opening + sizeof h + h.control) return;
    l.lane = rpc::decode<rpc::hello>(std::string_view(l.opening).substr(opening + sizeof h, h.control)).lane;
  }
  static void give(link& l, way& w) {
    while (!w.pieces.empty() && !l.dead && w.pieces.front().due <= clock::now()) {
      std::string& bytes = w.pieces.front().bytes;
      const ssize_t n = ::send(w.to, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (n < 0 && errno != EAGAIN) l.dead = true;
      if (n < 0) return;
      bytes.erase(0, static_cast<std::size_t>(n));
      if (bytes.empty()) w.pieces.pop_front();
    }
  }
  void silence_now() {
    for (link& l : links_) l.silent = l.lane == rpc::lane::control ? silence_control_ : silence_data_;
  }

  listening_socket front_;
  sockaddr_in to_;
  std::list<link> links_;
  std::atomic<bool> over_{false}, asked_{false}, silence_data_{false}, silence_control_{false};
  std::atomic<std::int64_t> delay_{0};
  std::thread thread_;
};

}  // namespace faults
