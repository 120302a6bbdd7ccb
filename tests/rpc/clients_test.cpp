// How many clients a server takes that come at the same time.
#include <catch2/catch.hpp>

#include <memory>
#include <utility>
#include <vector>

#include <pinion/base/countdown.hpp>
#include <pinion/rpc/acceptor.hpp>
#include <pinion/rpc/handshake.hpp>
#include <pinion/rpc/security/security.hpp>
#include <pinion/rpc/tcp_network.hpp>

namespace {

using namespace pinion;
using namespace pinion::rpc;
using namespace std::chrono_literals;

// Where clients wait until all of them are there. Used by the network's thread.
class gate {
 public:
  gate(network& net, std::size_t all) : net_(net), all_(all) {}
  awaitable<void> pass() {
    timers_.push_back(net_.make_timer());
    if (timers_.size() == all_)
      for (const auto& one : timers_) one->cancel();
    else
      co_await timers_.back()->wait_until(net_.now() + 20s);
  }

 private:
  network& net_;
  const std::size_t all_;
  std::vector<std::unique_ptr<timer>> timers_;
};

// A stream whose third message, the proof of a client, waits at a gate.
class gated_stream final : public byte_stream {
 public:
  gated_stream(std::unique_ptr<byte_stream> in, gate& at) : in_(std::move(in)), at_(at) {}
  awaitable<std::size_t> read_some(std::span<std::byte> into) override { return in_->read_some(into); }
  awaitable<void> write(std::span<const asio::const_buffer> parts) override {
    if (++writes_ == 3) co_await at_.pass();
    co_await in_->write(parts);
  }
  std::size_t write_now(std::span<const asio::const_buffer>) override { return 0; }
  std::size_t read_now(std::span<std::byte>) override { return 0; }
  void finish() noexcept override { in_->finish(); }
  void close() noexcept override { in_->close(); }
  std::string peer() const override { return in_->peer(); }

 private:
  const std::unique_ptr<byte_stream> in_;
  gate& at_;
  int writes_ = 0;
};

// g++ 12 takes the frame of a coroutine, where it has inlined Asio's operator new, for one that another function frees.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"
struct crowd {
  const std::shared_ptr<network> net = tcp_network_of_this_process();
  const std::shared_ptr<acceptor> listening = std::make_shared<acceptor>(
      *net, net->listen("127.0.0.1:0"),
      acceptor_options{.me = {"/job:ps/replica:0/task:0", 1}, .clients = 8, .log = [](const std::string&) {}},
      service{});
  static constexpr int size = 60;
  gate at{*net, size};
  countdown ended{size};
  std::vector<std::unique_ptr<byte_stream>> streams;

  awaitable<void> come() {
    try {
      const std::string where = listening->address();
      auto stream = co_await net->connect(where, net->now() + 20s);
      streams.push_back(std::make_unique<gated_stream>(std::move(stream), at));
      hello mine;
      mine.channel = random_number();
      mine.lane = lane::control;
      mine.heartbeat_ms = 60'000;
      const identity me{"", random_number()};
      co_await greet(*streams.back(), mine, me, where);
    } catch (const error&) {  // it is one too many
    }
    ended.count_down();
  }
  int clients() {
    countdown counted;
    int all = 0;
    net->post([&] {
      all = listening->clients();
      counted.count_down();
    });
    counted.wait();
    return all;
  }
};
#pragma GCC diagnostic pop

TEST_CASE("L5: clients whose handshakes end at the same time are no more than a server takes") {
  crowd all;
  all.listening->start();
  for (int i = 0; i < crowd::size; ++i) all.net->spawn(all.come());
  REQUIRE(all.net->wait(all.ended, all.net->now() + 60s));
  settle(*all.net);
  CHECK(all.clients() == 4);  // half of them from one address
  all.listening->stop(error(errc::unavailable, "the test is over"));
  settle(*all.net);
}

}  // namespace
