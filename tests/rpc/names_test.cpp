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
#include <support/caught.hpp>
#include <support/told_lines.hpp>

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

std::string port_of(const listener& listening) {
  return listening.address().substr(listening.address().rfind(':'));
}

awaitable<void> connect_by_name(network& net, std::string address) {
  co_await net.connect(std::move(address), net.now() + 5s);
}

TEST_CASE("a name is looked up at each attempt to connect, and each of its addresses is tried") {
  const auto net = tcp_network_of_this_process();
  const auto listening = net->listen("127.0.0.2:0");
  const std::string port = port_of(*listening);
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
  listening->close();
  settle(*net);
}

awaitable<void> accept_and_answer(listener& from, int connections) {
  for (; connections > 0; --connections) {
    const auto came = co_await from.accept();
    const std::byte answer{7};
    const asio::const_buffer part(&answer, 1);
    co_await came->write({&part, 1});
  }
}

awaitable<void> connect_and_hear(network& net, std::string address) {
  const auto stream = co_await net.connect(std::move(address), net.now() + 5s);
  std::byte answer{};
  if (co_await stream->read_some({&answer, 1}) != 1) throw error(errc::unavailable, "no answer");
}

TEST_CASE("a host is listened to at all its addresses, of one port, and leaves them together") {
  const auto net = tcp_network_of_this_process();
  names.set("several.invalid", {"127.0.0.2", "127.0.0.3", "127.0.0.2", "127.0.0.4"});
  const auto listening = net->listen("several.invalid:0");
  CHECK(listening->address().starts_with("several.invalid:"));
  const std::string port = port_of(*listening);
  CHECK(port != ":0");
  const auto answering = start(*net, accept_and_answer(*listening, 6));
  for (const char* host : {"127.0.0.4", "127.0.0.3", "127.0.0.2", "127.0.0.2", "127.0.0.4", "several.invalid"}) {
    const auto heard = start(*net, connect_and_hear(*net, host + port));
    net->wait(heard->ended, {});
    CHECK(heard->text() == well);
  }
  net->wait(answering->ended, {});
  CHECK(answering->text() == well);

  CHECK_THAT(refusal([&] { net->listen("several.invalid" + port); }, errc::already_exists,
                     "cannot listen on 127.0.0.2" + port + ", an address of several.invalid" + port + ": "),
             Catch::Equals(""));
  const auto waiting = start(*net, accept_and_answer(*listening, 1));
  net->post([&] { listening->close(); });
  net->wait(waiting->ended, {});
  CHECK(waiting->text().starts_with("cancelled: the listener of several.invalid"));
  settle(*net);
  const auto again = net->listen("several.invalid" + port);
  CHECK(port_of(*again) == port);
}

TEST_CASE("an address of a name that is none of this host is left out, and told") {
  const auto net = tcp_network_of_this_process();
  const std::string elsewhere = "192.0.2.1";  // of documents alone (RFC 5737)
  const told_lines told;
  names.set("elsewhere.invalid", {elsewhere, "127.0.0.2"});
  CHECK_NOTHROW(net->listen("elsewhere.invalid:0"));
  CHECK_THAT(told.all(), Catch::Contains("cannot listen on 192.0.2.1:0, an address of elsewhere.invalid:0: "));
  names.set("elsewhere.invalid", {elsewhere});
  CHECK_THAT(refusal([&] { net->listen("elsewhere.invalid:0"); }, errc::invalid_argument,
                     "cannot listen on elsewhere.invalid:0: "),
             Catch::Equals(""));
}

TEST_CASE("a name that leads to this machine alone is told when it is listened to") {
  const auto net = tcp_network_of_this_process();
  const told_lines told;
  names.set("myhost.invalid", {"127.0.1.1"});
  const auto listening = net->listen("myhost.invalid:0");
  CHECK_THAT(told.all(), Catch::Contains("myhost.invalid" + port_of(*listening) +
                                         " is 127.0.1.1 here, where no other machine comes: ") &&
                             Catch::Contains("--listen"));
}

}  // namespace
