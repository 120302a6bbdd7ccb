// The event loop of a network, between its own thread and threads that wait.
#include <pinion/rpc/transport/event_loop.hpp>

#include <catch2/catch.hpp>

#include <functional>
#include <thread>
#include <vector>

#include <pinion/rpc/transport/asio_io.hpp>

namespace {

using namespace std::chrono_literals;
using pinion::countdown, pinion::time_point, pinion::rpc::event_loop, pinion::rpc::poll_list;

struct network_of_nobody {
  asio::io_context context{1};
  asio::executor_work_guard<asio::io_context::executor_type> work = asio::make_work_guard(context);
  poll_list polls;
  event_loop loop{context, polls};
};

// With a thread of its own.
struct served_network : network_of_nobody {
  std::thread own{[this] { loop.serve(); }};
  ~served_network() {
    context.stop();
    own.join();
  }
};

TEST_CASE("a thread that waits runs what arrives, where nobody else does") {
  network_of_nobody net;
  countdown ended;
  std::thread::id where;
  asio::post(net.context, [&] {
    where = std::this_thread::get_id();
    ended.count_down();
  });
  CHECK(net.loop.wait(ended, {}));
  CHECK(where == std::this_thread::get_id());
}

TEST_CASE("a wait for what does not come ends at its deadline") {
  network_of_nobody net;
  countdown ended;
  CHECK_FALSE(net.loop.wait(ended, std::chrono::steady_clock::now() + 1ms));
  ended.count_down();
  CHECK(net.loop.wait(ended, std::chrono::steady_clock::now() - 1s));
}

TEST_CASE("a wait ends at its deadline, though there be ever something to run") {
  network_of_nobody net;
  int left = 10'000'000;
  std::function<void()> again = [&] {
    if (--left > 0) asio::post(net.context, again);
  };
  again();
  countdown never;
  CHECK_FALSE(net.loop.wait(never, std::chrono::steady_clock::now() + 1ms));
  CHECK(left > 0);
}

TEST_CASE("the network's own thread runs what arrives where no thread waits") {
  served_network net;
  countdown ended;
  asio::post(net.context, [&] { ended.count_down(); });
  ended.wait();
  CHECK(net.loop.wait(ended, {}));
}

// Has always changed, and counts an event when it is looked at.
struct changing final : pinion::rpc::polled {
  explicit changing(countdown& e) : event(e) {}
  bool look() override {
    if (!event.done()) event.count_down();
    return true;
  }
  bool rest() override { return true; }
  void abandon() override {}
  countdown& event;
};

TEST_CASE("what has changed in memory is seen, though there be ever something else to run") {
  network_of_nobody net;
  countdown ended;
  changing memory(ended);
  std::function<void()> on_and_on = [&] {
    if (!ended.done()) asio::post(net.context, on_and_on);
  };
  asio::post(net.context, on_and_on);
  asio::post(net.context, [&] { net.polls.add(memory); });
  CHECK(net.loop.wait(ended, std::chrono::steady_clock::now() + 20s));
}

TEST_CASE("an event that takes long reaches a thread that has ceased to run the network") {
  served_network net;
  for (int i = 0; i < 20; ++i) {
    countdown ended;
    asio::steady_timer slow(net.context, 200us);
    slow.async_wait([&](const asio::error_code&) { ended.count_down(); });
    CHECK(net.loop.wait(ended, {}));
  }
}

TEST_CASE("one thread at a time runs a network, and no event is lost on the way between them") {
  served_network net;
  int inside = 0, ran = 0;  // used by the thread that runs the context
  const auto ask = [&] {
    for (int i = 0; i < 2000; ++i) {
      countdown ended;
      asio::post(net.context, [&] {
        ++inside;
        ++ran;
        asio::post(net.context, [&] {
          --inside;
          ended.count_down();
        });
      });
      if (i % 3 == 0) ended.wait();
      net.loop.wait(ended, {});
    }
  };
  std::vector<std::thread> askers;
  for (int i = 0; i < 3; ++i) askers.emplace_back(ask);
  for (auto& a : askers) a.join();
  countdown last;
  asio::post(net.context, [&] { last.count_down(); });
  net.loop.wait(last, {});
  CHECK(ran == 6000);
  CHECK(inside == 0);
}

}  // namespace
