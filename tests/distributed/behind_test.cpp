// Calls of one session that wait behind another call of it: each ends by a limit of its own.
#include <catch2/catch.hpp>

#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <pinion/distributed/client/remote_session.hpp>
#include <pinion/distributed/master/local_masters.hpp>
#include <pinion/distributed/server/task_server.hpp>
#include <pinion/netsim/sim_network.hpp>

#include <rpc/coroutines.hpp>
#include <support/ends.hpp>
#include <support/own_graph.hpp>

namespace {

using namespace pinion_tests;
using namespace std::chrono_literals;

// A simulated network whose thread does something else before it waits, once: so a call begins while another waits.
class distracted final : public rpc::network {
 public:
  explicit distracted(sim_network& to) : to_(to) {}
  // It is told for what a thread waits; so many waits go by before.
  void before_it_waits(std::function<void(countdown&)> what, int go_by = 0) {
    first_ = std::move(what);
    go_by_ = go_by;
  }

  asio::io_context& context() override { return to_.context(); }
  time_point now() const override { return to_.now(); }
  std::unique_ptr<rpc::timer> make_timer() override { return to_.make_timer(); }
  std::uint64_t draw() override { return to_.draw(); }
  awaitable<std::unique_ptr<byte_stream>> connect(std::string address, time_point deadline) override {
    return to_.connect(std::move(address), deadline);
  }
  std::unique_ptr<rpc::listener> listen(const std::string& address) override { return to_.listen(address); }
  bool wait(countdown& event, const std::optional<time_point>& deadline) override {
    if (first_ && go_by_-- == 0) std::exchange(first_, nullptr)(event);
    return to_.wait(event, deadline);
  }

 private:
  sim_network& to_;
  std::function<void(countdown&)> first_;
  int go_by_ = 0;
};

// A session of a task that is reached over the wire, and the two calls.
struct pair_of_calls : own_graph {
  sim_network world{sim_options{}};
  std::shared_ptr<sim_network> host = world.host("127.0.2.1");
  std::shared_ptr<distracted> net = std::make_shared<distracted>(world);
  std::unique_ptr<distributed::task_server> task;
  output x = end_of(constant(1.0f, "x"));
  distributed::remote_session sess{
      {.target = "pinion://127.0.2.1:2222", .startup_timeout = 3s, .operation_timeout = 500ms}, g, net, 0ms};
  error first{errc::unknown, ""}, second{errc::unknown, ""};
  const time_point began = world.now();
  duration took{};

  ~pair_of_calls() {
    sess.close({});
    task.reset();
  }
  void start_task() {
    const cluster_spec spec{{"worker", {"127.0.2.1:2222"}}};
    task = std::make_unique<distributed::task_server>(host, spec, server_options{.job = "worker"},
                                                      host->listen("127.0.2.1:2222"), distributed::server_threads{});
    distributed::local_masters::instance().remove("127.0.2.1:2222");
  }
  // Begins the second call while the first waits, at that of its waits.
  void call(const std::function<void()>& one, const std::function<void()>& other, int at_wait = 0) {
    net->before_it_waits(
        [&](countdown&) {
          const auto since = world.now();
          second = caught(other);
          took = world.now() - since;
        },
        at_wait);
    first = caught(one);
  }
  void prepare(const output& of) { sess.prepare({{}, {of}, {}}); }
};

TEST_CASE("a call that waits while another opens the session waits until its own deadline, and says for whom") {
  pair_of_calls calls;
  const auto list = [&] { calls.sess.list_devices(); };
  calls.call(list, list);
  CHECK(calls.first.code() == errc::deadline_exceeded);
  CHECK(calls.second.code() == errc::deadline_exceeded);
  CHECK(calls.second.sentence() ==
        "waited 3.1 s for another call, which opens the session at 127.0.2.1:2222, longer than the session's "
        "startup_timeout (else its operation_timeout)");
}

TEST_CASE("a call that waits behind another ends when the steps are cancelled, or the session is closed") {
  pair_of_calls calls;
  const bool closed = GENERATE(true, false), same_step = GENERATE(true, false);
  after(calls.world, 1s, [&] {
    if (closed) return calls.sess.close({});
    calls.sess.cancel_steps(error(errc::aborted, "enough"));
  });
  const auto list = [&] { calls.sess.list_devices(); };
  const auto make = [&] { calls.prepare(calls.x); };
  same_step ? calls.call(make, make) : calls.call(list, list);
  CHECK(calls.second.code() == (closed ? errc::cancelled : errc::aborted));
  CHECK(calls.took <= 1100ms);
  CHECK(calls.first.code() == calls.second.code());
}

TEST_CASE("a call that waits while another makes the same step waits until its own deadline, and says for whom") {
  pair_of_calls calls;
  const auto make = [&] { calls.prepare(calls.x); };
  calls.call(make, make);
  CHECK(calls.first.code() == errc::deadline_exceeded);
  CHECK(calls.second.sentence() ==
        "waited 3.6 s for another call, which makes the same step, longer than the session's startup_timeout and "
        "operation_timeout");
}

TEST_CASE("a call that waited while another made the same step too late fails as that one did, at once") {
  pair_of_calls calls;
  countdown both_wait;
  std::thread other;
  calls.net->before_it_waits([&](countdown&) {
    calls.net->before_it_waits([&](countdown& first_has_it) {
      both_wait.count_down();
      first_has_it.wait();
    });
    other = std::thread([&] { calls.second = caught([&] { calls.prepare(calls.x); }); });
    both_wait.wait();
  });
  calls.first = caught([&] { calls.prepare(calls.x); });
  other.join();
  CHECK(calls.first.code() == errc::deadline_exceeded);
  CHECK(calls.second.sentence() == calls.first.sentence());
  CHECK(calls.world.now() - calls.began < 3500ms);  // the startup_timeout, once
}

TEST_CASE("a call that waits while another tells the master of nodes waits until its own deadline") {
  pair_of_calls calls;
  calls.start_task();
  const output y = end_of(constant(2.0f, "y"));
  const auto after_opening = 2;  // waits: for the connection, and for the session
  const auto make_other = [&] {
    calls.world.freeze("127.0.2.1");
    calls.prepare(y);
  };
  calls.call([&] { calls.prepare(calls.x); }, make_other, after_opening);
  calls.world.thaw("127.0.2.1");
  CHECK(calls.first.code() == errc::deadline_exceeded);
  CHECK(calls.second.sentence() ==
        "waited 0.6 s for another call, which tells the master of nodes, longer than the session's operation_timeout");
}

}  // namespace
