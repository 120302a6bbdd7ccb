// Values between two tasks of one host: how fast large ones go, and what they do to small steps beside them.
//
//   values [--rounds=N] [--tcp]
//
// Two processes on 127.0.0.1, with a ps and a worker, which share memory unless --tcp is said. A step of the worker
// takes a variable of the ps: told is its time without that of an empty step, beside the copy of as many bytes by a
// bare TCP socket and by memcpy in the same round. A value that is lent where it lies may cost less than the scatter of
// the two: a difference below .1 us counts as .1. Rounds take the ways in turn; medians over them, and the median of
// the ratios of a round with the quarters around it. Then an empty step on the ps is timed while values of 64 MiB go,
// and while nothing does.
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include <pinion/distributed.hpp>

#include "loopback.hpp"
#include "other_process.hpp"

namespace {

namespace pn = pinion;
using clock_type = std::chrono::steady_clock;

constexpr std::size_t sizes[] = {64 << 10, 1 << 20, 16 << 20, 64 << 20};
constexpr const char* ps = "/job:ps/task:0";
constexpr const char* worker = "/job:worker/task:0";

int free_port() {
  int port = 0;
  ::close(bench::listen_anywhere(port));
  return port;
}
pn::cluster_spec cluster_at(const std::string& ps_at, const std::string& worker_at) {
  return {{"ps", {"127.0.0.1:" + ps_at}}, {"worker", {"127.0.0.1:" + worker_at}}};
}

// ---- bare sockets

void make_prompt(int fd) {
  const int on = 1;
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}
bool send_all(int fd, const char* data, std::size_t bytes) {
  for (std::size_t at = 0; at < bytes;) {
    const auto n = ::send(fd, data + at, bytes - at, MSG_NOSIGNAL);
    if (n <= 0) return false;
    at += static_cast<std::size_t>(n);
  }
  return true;
}
bool receive_all(int fd, char* into, std::size_t bytes) {
  for (std::size_t at = 0; at < bytes;) {
    const auto n = ::recv(fd, into + at, bytes - at, 0);
    if (n <= 0) return false;
    at += static_cast<std::size_t>(n);
  }
  return true;
}
// Sends as many bytes as it is asked for.
void give(int listener) {
  const int fd = ::accept(listener, nullptr, nullptr);
  make_prompt(fd);
  const std::vector<char> memory(std::size_t{64} << 20, 'x');
  for (std::uint64_t bytes = 0; receive_all(fd, reinterpret_cast<char*>(&bytes), sizeof bytes);)
    if (!send_all(fd, memory.data(), bytes)) return;
}

// ---- the other process

int serve(const std::string& ps_at, const std::string& worker_at, bool shares) {
  int port = 0;
  std::thread(give, bench::listen_anywhere(port)).detach();
  pn::server task(cluster_at(ps_at, worker_at), {.job = "ps", .config = {.shared_memory = shares}});
  fmt::print("{}\n", port);
  std::fflush(stdout);
  task.join();
  return 0;
}

// ---- measuring

double at(std::vector<double> all, double part) {
  std::sort(all.begin(), all.end());
  return all[static_cast<std::size_t>(part * static_cast<double>(all.size() - 1))];
}
std::string quarters(const std::vector<double>& all) {
  return fmt::format("{:5.2f} ({:4.2f} to {:4.2f})", at(all, .5), at(all, .25), at(all, .75));
}
// The median time of a call, in microseconds.
template <class Call>
double time_of(int calls, const Call& call) {
  std::vector<double> all;
  for (int i = 0; i < calls; ++i) {
    const auto start = clock_type::now();
    call();
    all.push_back(std::chrono::duration<double, std::micro>(clock_type::now() - start).count());
  }
  return at(all, .5);
}

}  // namespace

int main(int argc, char** argv) try {
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (words.size() == 4 && words[0] == "--serve") return serve(words[1], words[2], words[3] == "shares");
  int rounds = 15;
  bool shares = true;
  for (const auto& word : words) {
    if (word.starts_with("--rounds=")) rounds = std::stoi(word.substr(9));
    if (word == "--tcp") shares = false;
  }

  const std::string ps_at = std::to_string(free_port()), worker_at = std::to_string(free_port());
  bench::other_process other({"/proc/self/exe", "--serve", ps_at, worker_at, shares ? "shares" : "does not"});
  const int socket = bench::connect_to(std::stoi(other.line()));
  make_prompt(socket);
  pn::server here(cluster_at(ps_at, worker_at), {.job = "worker", .config = {.shared_memory = shares}});

  std::vector<pn::operation> takes;
  std::vector<pn::variable_handle<float>> values;
  for (const std::size_t bytes : sizes) {
    {
      const pn::device on{ps};
      values.push_back(pn::variable(pn::zeros<float>({static_cast<std::int64_t>(bytes / 4)})));
    }
    const pn::device on{worker};
    takes.push_back(pn::group(pn::identity(values.back())));
  }
  pn::operation nothing_there;
  {
    const pn::device on{ps};
    nothing_there = pn::no_op();
  }
  pn::session sess{{.target = here.target(), .operation_timeout = std::chrono::seconds(60)}};
  sess.run(pn::global_variables_initializer());
  auto empty = sess.make_callable(pn::feeds(), pn::fetches(), pn::targets(nothing_there));

  std::vector<char> from(std::size_t{64} << 20, 'x'), to(std::size_t{64} << 20, 'y');
  fmt::print(
      "us            step  empty step    TCP socket  ratio (half of them)        memcpy  ratio (half of them)\n");
  for (std::size_t i = 0; i < std::size(sizes); ++i) {
    const std::size_t bytes = sizes[i];
    const int calls = static_cast<int>(std::clamp<std::size_t>((std::size_t{64} << 20) / bytes, 3, 200));
    auto take = sess.make_callable(pn::feeds(), pn::fetches(), pn::targets(takes[i]));
    std::vector<double> step, none, tcp, copy, by_tcp, by_copy;
    for (int r = 0; r < rounds; ++r) {
      none.push_back(time_of(calls, [&] { empty(); }));
      step.push_back(time_of(calls, [&] { take(); }));
      tcp.push_back(time_of(calls, [&] {
        const std::uint64_t asked = bytes;
        if (!send_all(socket, reinterpret_cast<const char*>(&asked), sizeof asked) ||
            !receive_all(socket, to.data(), bytes))
          throw std::runtime_error("the bare socket is gone");
      }));
      copy.push_back(time_of(calls, [&] { std::memcpy(to.data(), from.data(), bytes); }));
      const double value = std::max(step.back() - none.back(), .1);
      by_tcp.push_back(tcp.back() / value);
      by_copy.push_back(value / copy.back());
    }
    fmt::print("{:6} KiB {:9.1f} {:9.1f}   {:10.1f}  {}    {:9.1f}  {}\n", bytes >> 10, at(step, .5), at(none, .5),
               at(tcp, .5), quarters(by_tcp), at(copy, .5), quarters(by_copy));
  }

  auto large = sess.make_callable(pn::feeds(), pn::fetches(), pn::targets(takes.back()));
  std::atomic<bool> over{false};
  std::atomic<int> went{0};
  const double alone = time_of(2000, [&] { empty(); });
  std::thread busy([&] {
    for (; !over; ++went) large();
  });
  std::vector<double> beside;
  while (went < 3 * rounds) {
    const auto start = clock_type::now();
    empty();
    beside.push_back(std::chrono::duration<double, std::micro>(clock_type::now() - start).count());
  }
  over = true;
  busy.join();
  fmt::print(
      "empty step: {:.1f} us alone; beside values of 64 MiB median {:.1f}, nine of ten within {:.1f} us ({} steps)\n",
      alone, at(beside, .5), at(beside, .9), beside.size());
  return 0;
} catch (const std::exception& e) {
  fmt::print(stderr, "values: {}\n", e.what());
  return 1;
}
