// Counters that are waited for.
#include <pinion/base/countdown.hpp>

#include <catch2/catch.hpp>

#include <chrono>
#include <memory>
#include <thread>
#include <vector>

namespace {

using namespace std::chrono_literals;
using pinion::countdown;
using clock_type = std::chrono::steady_clock;

TEST_CASE("a countdown is done once all its events are counted, and stays so") {
  countdown two(2);
  CHECK_FALSE(two.done());
  two.count_down();
  CHECK_FALSE(two.done());
  two.count_down();
  CHECK(two.done());
  CHECK(two.wait());
  two.count_down();
  CHECK(two.wait(clock_type::now()));
  CHECK(countdown(0).wait());
}

TEST_CASE("a wait for a countdown ends at its deadline, also at one that is long over") {
  countdown never;
  const auto until = clock_type::now() + 2ms;
  CHECK_FALSE(never.wait(until));
  CHECK(clock_type::now() >= until);
  CHECK_FALSE(never.wait(pinion::time_point()));
  CHECK_FALSE(never.wait(pinion::time_point(-1s)));
}

TEST_CASE("all who sleep until a countdown is done are woken by its last event alone") {
  countdown events(3);
  std::atomic<int> woken{0};
  std::vector<std::thread> waiters;
  for (int i = 0; i < 3; ++i) waiters.emplace_back([&] { woken += events.wait(); });
  countdown never;
  for (int i = 0; i < 3; ++i) {
    CHECK(woken == 0);
    never.wait(clock_type::now() + 1ms);  // they are asleep by then
    events.count_down();
  }
  for (auto& w : waiters) w.join();
  CHECK(woken == 3);
}

TEST_CASE("a waiter may destroy a countdown while its last event is still being counted") {
  for (int i = 0; i < 2000; ++i) {
    auto event = std::make_unique<countdown>();
    std::thread other([&its = *event] { its.count_down(); });
    CHECK(event->wait(i % 2 == 0 ? std::optional(clock_type::now() + 1min) : std::nullopt));
    event.reset();
    other.join();
  }
}

}  // namespace
