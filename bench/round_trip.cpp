// What one round trip costs: an empty step on a task in another process, beside bare sockets, and a call of gRPC where
// there is one, in the same run.
//
//   round_trip [--rounds=N] [--calls=N]
//
// Two processes. Each round asks, in turn: a socket whose two ends block, a socket whose two ends spin, gRPC by a
// blocking unary call, and a session on the other process's server with a step of one no_op. Medians over all calls,
// wall time; so run it on an idle machine.
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <pinion/distributed.hpp>

#include "loopback.hpp"
#include "other_process.hpp"
#include "peers/grpc_echo.hpp"
#include "words.hpp"

namespace {

namespace pn = pinion;
using clock_type = std::chrono::steady_clock;
using message = std::array<char, 64>;

// ---- bare sockets

struct tcp_pair {
  int fd = -1;
  bool spins = false;

  void make_ready() const {
    const int on = 1;
    ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (spins) ::fcntl(fd, F_SETFL, O_NONBLOCK);
  }
  bool send(const message& m) const { return ::send(fd, m.data(), m.size(), 0) == static_cast<ssize_t>(m.size()); }
  bool receive(message& m) const {
    std::size_t at = 0;
    while (at < m.size()) {
      const auto n = ::recv(fd, m.data() + at, m.size() - at, 0);
      if (n > 0)
        at += static_cast<std::size_t>(n);
      else if (n == 0 || errno != EAGAIN)
        return false;
    }
    return true;
  }
};

tcp_pair connect_to(int port, bool spins) {
  tcp_pair s{bench::connect_to(port), spins};
  s.make_ready();
  return s;
}

// A spinning end would take a core from the others: it spins only between a word that begins a round and one that ends
// it, and sleeps otherwise.
void echo(int listener, bool spins) {
  tcp_pair s{::accept(listener, nullptr, nullptr), spins};
  s.make_ready();
  message m;
  for (;;) {
    pollfd next{s.fd, POLLIN, 0};
    if (spins) ::poll(&next, 1, -1);
    do {
      if (!s.receive(m)) return;
      if (!s.send(m)) return;
    } while (m[0] != 'e');
  }
}

// ---- the other process

int serve() {
  int blocking = 0, spinning = 0;
  const int a = bench::listen_anywhere(blocking), b = bench::listen_anywhere(spinning);
  std::thread(echo, a, false).detach();
  std::thread(echo, b, true).detach();
  pn::local_cluster one{{{"worker", 1}}};
  bench::tell(fmt::format("{} {} {} {}", blocking, spinning, bench::serve_by_grpc(), one.target("worker", 0)));
  one.server("worker", 0).join();
  std::_Exit(0);
}

// ---- measuring

double median(std::vector<double> v) {
  std::nth_element(v.begin(), v.begin() + static_cast<std::ptrdiff_t>(v.size() / 2), v.end());
  return v[v.size() / 2];
}

template <class Call>
void measure(int calls, std::vector<double>& into, const Call& call) {
  for (int i = 0; i < calls; ++i) {
    const auto start = clock_type::now();
    call(i + 1 == calls);
    into.push_back(std::chrono::duration<double, std::micro>(clock_type::now() - start).count());
  }
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc > 1 && std::string(argv[1]) == "--serve") return serve();
  const bench::words w(argc, argv);
  const int rounds = w.count("--rounds", 20), calls = w.count("--calls", 500);
  bench::other_process other({"/proc/self/exe", "--serve"});
  std::istringstream ports(other.line());
  int blocking_port = 0, spinning_port = 0, grpc_port = 0;
  std::string target;
  if (!(ports >> blocking_port >> spinning_port >> grpc_port >> target))
    throw std::runtime_error("the other process did not say where it listens");
  const auto blocking = connect_to(blocking_port, false), spinning = connect_to(spinning_port, true);
  bench::grpc_caller by_grpc(grpc_port);

  pn::session sess{{.target = target, .operation_timeout = std::chrono::seconds(10)}};
  auto nothing = pn::no_op();
  auto empty_step = sess.make_callable(pn::feeds(), pn::fetches(), pn::targets(nothing));

  const auto ping = [](const tcp_pair& s, bool last) {
    message m{};
    m[0] = last ? 'e' : 'p';
    if (!s.send(m) || !s.receive(m)) throw std::runtime_error("the echo is gone");
  };
  std::vector<double> a, b, c, d;
  for (int r = 0; r < rounds; ++r) {
    measure(calls, a, [&](bool last) { ping(blocking, last); });
    measure(calls, b, [&](bool last) { ping(spinning, last); });
    measure(calls, c, [&](bool) { empty_step(); });
    if (bench::has_grpc) measure(calls, d, [&](bool) { by_grpc.call(); });
  }
  fmt::print("round trip, us (median of {} calls)\n", a.size());
  fmt::print("  blocking socket, 64 bytes     {:6.1f}\n", median(a));
  fmt::print("  spinning socket, 64 bytes     {:6.1f}\n", median(b));
  fmt::print("  empty step, another process   {:6.1f}   {:.2f} x blocking, {:.2f} x spinning\n", median(c),
             median(c) / median(a), median(c) / median(b));
  if (bench::has_grpc)
    fmt::print("  unary call of gRPC            {:6.1f}   the step takes {:.2f} of it\n", median(d),
               median(c) / median(d));
  return 0;
} catch (const std::exception& e) {
  fmt::print(stderr, "round_trip: {}\n", e.what());
  return 1;
}
