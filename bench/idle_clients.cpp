// The memory that idle clients cost a server: what of it is resident, in another process, before and after.
//
//   idle_clients [--clients=N] [--tls] [--large]
//
// Every client has both lanes of a channel, and sends a heartbeat now and then. With --large it has sent and received
// a message of 1 MiB before. With --tls connections are encrypted, by certificates that the program makes.
#include <sys/resource.h>

#include <chrono>
#include <iostream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <pinion/rpc/acceptor.hpp>
#include <pinion/rpc/channel.hpp>
#include <pinion/rpc/security/security.hpp>
#include <pinion/rpc/tcp_network.hpp>

#include "echo_server.hpp"
#include "other_process.hpp"
#include "resident.hpp"

namespace {

namespace rpc = pinion::rpc;

// Two sockets a client, and some to spare.
void allow_sockets(std::size_t clients) {
  rlimit files{};
  ::getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = std::min<rlim_t>(files.rlim_max, 2 * clients + 200);
  ::setrlimit(RLIMIT_NOFILE, &files);
}

int serve(const rpc::credentials& shows, std::size_t clients) {
  allow_sockets(clients);
  const bench::echo_server server(shows);
  fmt::print("{}\n", server.address());
  std::fflush(stdout);
  for (std::string line; std::getline(std::cin, line);) {
    fmt::print("{}\n", bench::resident());
    std::fflush(stdout);
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) try {
  bool tls = false, large = false;
  std::size_t clients = 1000;
  std::string folder;
  bool serves = false;
  for (const std::string& word : std::vector<std::string>(argv + 1, argv + argc)) {
    tls |= word == "--tls";
    large |= word == "--large";
    if (word.starts_with("--clients=")) clients = std::stoul(word.substr(10));
    if (word.starts_with("--serve=")) serves = true, folder = word.substr(8);
  }
  if (serves) return serve(bench::shown("server", folder), clients);

  allow_sockets(clients);
  const bench::certificate_folder files(tls);
  bench::other_process other({"/proc/self/exe", "--serve=" + files.path(), fmt::format("--clients={}", clients)});
  const std::string address = other.line();
  const auto memory = [&] {
    other.say("memory");
    return std::stol(other.line());
  };
  const rpc::credentials shows = bench::shown("client", files.path());
  bench::caller first(address, shows);
  first.send(large ? 1 << 20 : 0);
  const long before = memory();
  std::vector<std::unique_ptr<bench::caller>> all;
  for (std::size_t i = 0; i < clients; ++i) {
    all.push_back(std::make_unique<bench::caller>(address, shows));
    if (large) all.back()->send(1 << 20);
  }
  std::this_thread::sleep_for(std::chrono::seconds(3));
  const long after = memory();
  fmt::print("{} idle clients{}{}: {:.1f} MiB of a server, {:.1f} KiB a client\n", clients, tls ? " over TLS" : "",
             large ? " after a message of 1 MiB each" : "", static_cast<double>(after - before) / 1024,
             static_cast<double>(after - before) / static_cast<double>(clients));
  return 0;
} catch (const std::exception& e) {
  fmt::print(stderr, "idle_clients: {}\n", e.what());
  return 1;
}
