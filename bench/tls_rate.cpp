// Bytes a second over TLS: messages of a channel beside a bare TLS socket in the same run, and both without TLS.
//
//   tls_rate [--rounds=N] [--kib=N]
//
// Two processes on 127.0.0.1. A message is sent, and the next when the other process has answered that it has all of
// it. Rounds take the ways in turn, so that what else the machine does hits both of a pair alike: told are the medians
// of the rates, and the median of the ratios of a round, with the quarters around it. With --kib one size is measured.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "echo_server.hpp"
#include "loopback.hpp"
#include "other_process.hpp"

namespace {

using clock_type = std::chrono::steady_clock;

// ---- bare sockets

// One end of a blocking connection, with TLS or without.
class bare {
 public:
  bare(int fd, SSL_CTX* tls, bool connects) : fd_(fd) {
    const int on = 1;
    ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (!tls) return;
    session_ = SSL_new(tls);
    SSL_set_fd(session_, fd);
    if ((connects ? SSL_connect(session_) : SSL_accept(session_)) != 1) throw std::runtime_error("no TLS");
  }
  bare(const bare&) = delete;
  ~bare() {
    SSL_free(session_);
    ::close(fd_);
  }
  void send(const char* data, std::size_t bytes) {
    for (std::size_t at = 0, n = 0; at < bytes; at += n) {
      if (!session_) n = static_cast<std::size_t>(std::max<ssize_t>(::send(fd_, data + at, bytes - at, 0), 0));
      if (session_) SSL_write_ex(session_, data + at, bytes - at, &n);
      if (n == 0) throw std::runtime_error("the bare socket is gone");
    }
  }
  bool receive(char* into, std::size_t bytes) {
    for (std::size_t at = 0, n = 0; at < bytes; at += n) {
      if (!session_) n = static_cast<std::size_t>(std::max<ssize_t>(::recv(fd_, into + at, bytes - at, 0), 0));
      if (session_ && SSL_read_ex(session_, into + at, bytes - at, &n) != 1) return false;
      if (n == 0) return false;
    }
    return true;
  }

 private:
  const int fd_;
  SSL* session_ = nullptr;
};

// Takes a length and as many bytes, and answers with a byte.
void take_all(int listener, SSL_CTX* tls) {
  bare from(::accept(listener, nullptr, nullptr), tls, false);
  std::vector<char> memory;
  for (std::uint64_t bytes = 0; from.receive(reinterpret_cast<char*>(&bytes), sizeof bytes);) {
    memory.resize(std::max<std::size_t>(memory.size(), bytes));
    if (!from.receive(memory.data(), bytes)) return;
    from.send("a", 1);
  }
}

int serve(const std::string& folder) {
  const auto shows = bench::shown("server", folder);
  const bench::echo_server plain({}), sealed(shows);
  int port = 0, tls_port = 0;
  const int a = bench::listen_anywhere(port), b = bench::listen_anywhere(tls_port);
  std::thread(take_all, a, nullptr).detach();
  std::thread(take_all, b, shows.tls->context()).detach();
  fmt::print("{}\n{}\n{}\n{}\n", port, tls_port, plain.address(), sealed.address());
  std::fflush(stdout);
  ::pause();
  return 0;
}

// ---- measuring

constexpr std::size_t sizes[] = {64 << 10, 1 << 20, 4 << 20, 16 << 20, 64 << 20};

// Bytes a second of messages that take some 50 ms in all.
template <class Send>
double rate(std::size_t bytes, const Send& send) {
  const int times = static_cast<int>(std::clamp<std::size_t>((std::size_t{64} << 20) / bytes, 1, 200));
  const auto start = clock_type::now();
  for (int i = 0; i < times; ++i) send(bytes);
  const double seconds = std::chrono::duration<double>(clock_type::now() - start).count();
  return static_cast<double>(bytes) * times / seconds;
}

// Rates of a bare socket, and of a channel beside it.
class pairs {
 public:
  void add(double socket, double channel) {
    socket_.push_back(socket);
    channel_.push_back(channel);
    ratio_.push_back(channel / socket);
  }
  std::string text() {
    return fmt::format("{:7.0f}  {:7.0f}   {:4.2f} ({:4.2f} to {:4.2f})", at(socket_, .5) / 1e6, at(channel_, .5) / 1e6,
                       at(ratio_, .5), at(ratio_, .25), at(ratio_, .75));
  }

 private:
  static double at(std::vector<double>& all, double part) {
    std::sort(all.begin(), all.end());
    return all[static_cast<std::size_t>(part * static_cast<double>(all.size() - 1))];
  }
  std::vector<double> socket_, channel_, ratio_;
};

}  // namespace

int main(int argc, char** argv) try {
  int rounds = 15;
  std::size_t only_kib = 0;
  for (const std::string& word : std::vector<std::string>(argv + 1, argv + argc)) {
    if (word.starts_with("--serve=")) return serve(word.substr(8));
    if (word.starts_with("--rounds=")) rounds = std::stoi(word.substr(9));
    if (word.starts_with("--kib=")) only_kib = std::stoul(word.substr(6));
  }
  const bench::certificate_folder files(true);
  bench::other_process other({"/proc/self/exe", "--serve=" + files.path()});
  const int port = std::stoi(other.line()), tls_port = std::stoi(other.line());
  const std::string plain_at = other.line(), sealed_at = other.line();
  const auto shows = bench::shown("client", files.path());
  bare plain_socket(bench::connect_to(port), nullptr, true),
      tls_socket(bench::connect_to(tls_port), shows.tls->context(), true);
  bench::caller plain(plain_at, {}), sealed(sealed_at, shows);

  const std::vector<char> memory(sizes[std::size(sizes) - 1], 'x');
  const auto by_socket = [&](bare& over) {
    return [&](std::size_t bytes) {
      const std::uint64_t length = bytes;
      char answer = 0;
      over.send(reinterpret_cast<const char*>(&length), sizeof length);
      over.send(memory.data(), bytes);
      if (!over.receive(&answer, 1)) throw std::runtime_error("the bare socket is gone");
    };
  };
  fmt::print("MB/s           socket  channel  ratio (half of them)    TLS socket  TLS channel  ratio (half of them)\n");
  for (const std::size_t size : sizes) {
    if (only_kib != 0 && size != only_kib << 10) continue;
    pairs without, with;
    for (int round = 0; round < rounds; ++round) {
      without.add(rate(size, by_socket(plain_socket)), rate(size, [&](std::size_t n) { plain.send(n); }));
      with.add(rate(size, by_socket(tls_socket)), rate(size, [&](std::size_t n) { sealed.send(n); }));
    }
    fmt::print("{:6} KiB    {}       {}\n", size >> 10, without.text(), with.text());
  }
  return 0;
} catch (const std::exception& e) {
  fmt::print(stderr, "tls_rate: {}\n", e.what());
  return 1;
}
