// Hosts whose names are answered by this test: one that moves, and one with several addresses.
#include <dlfcn.h>
#include <netdb.h>
#include <sys/socket.h>

#include <catch2/catch.hpp>

#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <pinion/rpc/tcp_network.hpp>

#include <rpc/coroutines.hpp>

namespace {

using namespace pinion_tests;
using namespace std::chrono_literals;

struct known_names {
  std::mutex mutex;
  std::map<std::string, std::vector<std::string>> hosts;

  void set(const std::string& name, std::vector<std::string> hosts_of_it) {
    const std::lock_guard hold(mutex);
    hosts[name] = std::move(hosts_of_it);
  }
  std::vector<std::string> find(const char* name) {
    const std::lock_guard hold(mutex);
    const auto at = name ? hosts.find(name) : hosts.end();
    return at == hosts.end() ? std::vector<std::string>() : at->second;
  }
} names;

}  // namespace

// Stands before that of the C library, in this program.
extern "C" int getaddrinfo(const char* node, const char* service, const addrinfo* hints, addrinfo** result) {
  using function = int (*)(const char*, const char*, const addrinfo*, addrinfo**);
  static const auto real = reinterpret_cast<function>(::dlsym(RTLD_NEXT, "getaddrinfo"));
  const auto hosts = names.find(node);
  if (hosts.empty()) return real(node, service, hints, result);
  *result = nullptr;
  for (addrinfo** next = result; const std::string& host : hosts) {
    if (const int failed = real(host.c_str(), service, hints, next); failed != 0) return failed;
    while (*next) next = &(*next)->ai_next;
  }
  return 0;
}

namespace {

awaitable<void> connect_by_name(network& net, std::string address) {
  co_await net.connect(std::move(address), net.now() + 5s);
}

TEST_CASE("a name is looked up at each attempt to connect, and each of its addresses is tried") {
  const auto net = tcp_network_of_this_process();
  const auto door = net->listen("127.0.0.2:0");
  const std::string port = door->address().substr(door->address().rfind(':'));
  const auto connected = [&](std::vector<std::string> hosts) {
    names.set("moves.invalid", std::move(hosts));
    const auto tried = start(*net, connect_by_name(*net, "moves.invalid" + port));
    net->wait(tried->ended, {});
    return tried->text();
  };
  const std::string refused = "unavailable: cannot connect to moves.invalid" + port + ": Connection refused";
  CHECK(connected({"127.0.0.3"}) == refused);
  CHECK(connected({"127.0.0.2"}) == well);
  CHECK(connected({"127.0.0.3"}) == refused);
  CHECK(connected({"127.0.0.3", "127.0.0.4", "127.0.0.2"}) == well);
  door->close();
  settle(*net);
}

}  // namespace
