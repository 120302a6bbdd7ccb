// Streams over TCP: what never waits, and how they end.
#include <catch2/catch.hpp>

#include <pinion/rpc/tcp_network.hpp>

#include <rpc/coroutines.hpp>

namespace {

using namespace pinion_tests;

// Both ends of a connection of this process.
struct pair_of_streams {
  std::shared_ptr<network> net = tcp_network_of_this_process();
  std::unique_ptr<listener> door = net->listen("127.0.0.1:0");
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
      door = nullptr;
    });
    settle(*net);
  }

 private:
  awaitable<void> accept() { two = co_await door->accept(); }
  awaitable<void> connect() { one = co_await net->connect(door->address(), never); }
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
  CHECK(both.one->peer() == both.door->address());
  CHECK_THAT(both.two->peer(), Catch::StartsWith("127.0.0.1:"));
  CHECK(both.one->binding() == "");
}

}  // namespace
