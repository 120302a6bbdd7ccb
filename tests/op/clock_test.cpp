// The clock of bounded staleness by itself: who waits for whom, and who is no longer waited for.
#include <catch2/catch.hpp>

#include <atomic>
#include <future>
#include <thread>

#include <pinion/state/clock.hpp>

#include "support/caught.hpp"

namespace {

using namespace pinion;

// The end of a tick, if it has ended.
struct clock_answer {
  bool came = false;
  std::int64_t ahead = -1;
  std::optional<errc> failed;
};

struct clocks {
  explicit clocks(std::int64_t total) : at(std::make_shared<state::clock>("clocks", total)) {}

  std::shared_ptr<clock_answer> tick(std::int64_t replica, std::int64_t bound, cancellation* stop = nullptr) {
    auto a = std::make_shared<clock_answer>();
    at->tick(replica, bound, stop, [a](const outcome<std::int64_t>& how) {
      a->came = true;
      if (!how) return void(a->failed = how.failure()->code());
      a->ahead = how.value();
    });
    return a;
  }

  std::shared_ptr<state::clock> at;
};

}  // namespace

TEST_CASE("a replica waits while it is more than the bound ahead of the slowest") {
  clocks c(2);
  CHECK(c.tick(0, 1)->ahead == 1);
  const auto second = c.tick(0, 1);
  CHECK(!second->came);
  c.tick(1, 1);
  CHECK(second->ahead == 1);
  CHECK(c.at->counters().waits == 1);
}

TEST_CASE("a replica that has left is not waited for, and begins where the slowest is when it is back") {
  clocks c(2);
  const auto waits = c.tick(0, 0);
  CHECK(!waits->came);
  c.at->leave(1);
  CHECK(waits->ahead == 0);
  CHECK(c.at->live() == 1);
  c.tick(0, 0);
  CHECK(c.tick(1, 1)->ahead == 1);
}

TEST_CASE("a silent replica is removed once others have waited for it, and those that wait are not") {
  clocks c(3);
  c.at->expire(std::chrono::milliseconds(0));
  CHECK(c.at->live() == 3);
  const auto waits = c.tick(0, 0);
  c.at->expire(std::chrono::milliseconds(0));
  CHECK(c.at->live() == 1);
  CHECK(waits->ahead == 0);
}

TEST_CASE("a tick whose step is cancelled fails, and its replica does not wait") {
  clocks c(2);
  cancellation stop;
  const auto waits = c.tick(0, 0, &stop);
  stop.cancel();
  CHECK(waits->failed == errc::cancelled);
  c.at->expire(std::chrono::milliseconds(0));
  CHECK(c.at->live() == 2);
}

TEST_CASE("replicas that tick in threads of their own stay within the bound, and all of them end") {
  constexpr std::int64_t replicas = 4, steps = 200, bound = 2;
  clocks c(replicas);
  std::atomic<std::int64_t> beyond{0};
  const auto work = [&](std::int64_t replica) {
    for (std::int64_t step = 0; step < steps; ++step) {
      const auto ticked = std::make_shared<std::promise<std::int64_t>>();
      c.at->tick(replica, bound, nullptr, [ticked](outcome<std::int64_t> ahead) { ticked->set_value(ahead.value()); });
      beyond += ticked->get_future().get() > bound;
    }
    c.at->leave(replica);
  };
  std::vector<std::thread> threads;
  for (std::int64_t r = 0; r < replicas; ++r) threads.emplace_back(work, r);
  for (std::thread& t : threads) t.join();
  CHECK(beyond == 0);
  CHECK(c.at->counters().steps == replicas * steps);
  CHECK(c.at->live() == 0);
}

TEST_CASE("a replica that was not announced is refused") {
  clocks c(2);
  CHECK(refusal([&] { c.tick(2, 0); }, errc::invalid_argument, "replica 2 is not one of the 2") == "");
}
