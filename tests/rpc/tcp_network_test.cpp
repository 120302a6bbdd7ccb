// Streams over TCP: what never waits, and how they end.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <catch2/catch.hpp>

#include <pinion/rpc/tcp_network.hpp>

#include <rpc/coroutines.hpp>

namespace {

using namespace pinion_tests;
using namespace std::chrono_literals;

// Both ends of a connection of this process.
struct pair_of_streams {
  std::shared_ptr<network> net = tcp_network_of_this_process();
  std::unique_ptr<listener> listening = net->listen("127.0.0.1:0");
  std::unique_ptr<byte_stream> one, two;

  pair_of_streams() {
    const auto accepting = start(*net, accept());
    run(*net, connect());
    net->wait(accepting->ended, {});
  }
  ~pair_of_streams() {
    net->post([this] {
      one = nullptr;
      two = nullptr;
      listening = nullptr;
    });
    settle(*net);
  }

 private:
  awaitable<void> accept() { two = co_await listening->accept(); }
  awaitable<void> connect() { one = co_await net->connect(listening->address(), never); }
};

TEST_CASE("write_now takes what is possible, read_now what is there, and neither waits for the peer") {
  pair_of_streams both;
  const std::string text(100000, 'x');
  const asio::const_buffer part = asio::buffer(text);
  std::size_t sent = 0, received = 0;
  for (std::size_t n = 1; n > 0; sent += n) n = both.one->write_now({&part, 1});
  CHECK(sent > text.size());
  std::vector<std::byte> room(1 << 20);
  while (received < sent) received += both.two->read_now(room);
  CHECK(both.two->read_now(room) == 0);
  CHECK(both.one->write_now({&part, 1}) > 0);
}

awaitable<void> read_once(byte_stream& from, std::size_t& n) {
  std::byte room[10];
  n = co_await from.read_some(room);
}

TEST_CASE("a stream that is finished ends at its peer, and still reads") {
  pair_of_streams both;
  both.one->finish();
  std::size_t at_peer = 9, here = 9;
  run(*both.net, read_once(*both.two, at_peer));
  CHECK(at_peer == 0);
  const std::string text = "well";
  const asio::const_buffer part = asio::buffer(text);
  CHECK(both.two->write_now({&part, 1}) == text.size());
  run(*both.net, read_once(*both.one, here));
  CHECK(here == text.size());
}

TEST_CASE("a stream knows the address of its peer") {
  pair_of_streams both;
  CHECK(both.one->peer() == both.listening->address());
  CHECK_THAT(both.two->peer(), Catch::StartsWith("127.0.0.1:"));
  CHECK(both.one->binding() == "");
}

// A port of the loopback where a connection is neither taken nor refused, since its queue is full.
class deaf_port {
 public:
  deaf_port() : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = ::htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof at;
    auto* const any = reinterpret_cast<sockaddr*>(&at);
    if (::bind(socket_, any, size) != 0 || ::listen(socket_, 0) != 0 || ::getsockname(socket_, any, &size) != 0)
      throw std::runtime_error("cannot listen");
    address = "127.0.0.1:" + std::to_string(::ntohs(at.sin_port));
    for (int& one : queued_) {
      one = ::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
      ::connect(one, any, size);
    }
  }
  deaf_port(const deaf_port&) = delete;
  ~deaf_port() {
    for (const int one : queued_) ::close(one);
    ::close(socket_);
  }
  std::string address;

 private:
  const int socket_;
  int queued_[4];
};

awaitable<void> connect_to(network& net, std::vector<std::string> all, time_point until, std::string& whom) {
  const auto stream = co_await connect_to_any(net, std::move(all), until);
  whom = stream->peer();
}

TEST_CASE(
    "of several addresses of a host the first that answers is taken, and a deaf one leaves the others their time") {
  const auto net = tcp_network_of_this_process();
  const auto listening = net->listen("127.0.0.1:0");
  const auto closed = net->listen("127.0.0.1:0");
  const std::string refuses = closed->address();
  closed->close();
  const deaf_port deaf;
  std::string whom;
  run(*net, connect_to(*net, {refuses, deaf.address, listening->address()}, net->now() + 1s, whom));
  CHECK(whom == listening->address());
  const auto failed = start(*net, connect_to(*net, {refuses, deaf.address}, net->now() + 200ms, whom));
  net->wait(failed->ended, {});
  CHECK(failed->text() == "deadline_exceeded: nothing answered at " + deaf.address);
  const auto refused = start(*net, connect_to(*net, {deaf.address, refuses}, net->now() + 200ms, whom));
  net->wait(refused->ended, {});
  CHECK(refused->text() == "unavailable: Connection refused");
}

awaitable<void> connect_to_localhost(network& net, std::string address) {
  co_await net.connect(std::move(address), net.now() + 5s);
}

TEST_CASE("a host that has no address is unavailable, and named") {
  const auto net = tcp_network_of_this_process();
  const auto failed = start(*net, connect_to_localhost(*net, "no-such-host.invalid:2222"));
  net->wait(failed->ended, {});
  CHECK_THAT(failed->text(), Catch::Matches("(unavailable|deadline_exceeded): .*no-such-host.invalid:2222.*"));
}

}  // namespace
