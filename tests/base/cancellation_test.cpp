// A request to stop: who is told, how often, and by whom.
#include <pinion/base/cancellation.hpp>

#include <catch2/catch.hpp>

#include <thread>

namespace {

using pinion::cancellation;

TEST_CASE("cancelling calls every subscriber once, in the order in which they came") {
  cancellation c;
  std::string told;
  c.subscribe([&] { told += "a"; });
  c.subscribe([&] { told += "b"; });
  CHECK_FALSE(c.cancelled());
  c.cancel();
  c.cancel();
  CHECK(c.cancelled());
  CHECK(told == "ab");
}

TEST_CASE("a subscriber that has unsubscribed is not called") {
  cancellation c;
  bool told = false;
  const auto id = c.subscribe([&] { told = true; });
  CHECK(c.unsubscribe(id));
  CHECK_FALSE(c.unsubscribe(id));
  c.cancel();
  CHECK_FALSE(told);
}

TEST_CASE("a subscriber that comes too late gets 0 and is not called") {
  cancellation c;
  c.cancel();
  bool told = false;
  CHECK(c.subscribe([&] { told = true; }) == 0);
  CHECK_FALSE(told);
}

TEST_CASE("after cancelling there is nothing left to unsubscribe") {
  cancellation c;
  const auto id = c.subscribe([] {});
  c.cancel();
  CHECK_FALSE(c.unsubscribe(id));
}

TEST_CASE("a callback may use the cancellation that calls it") {
  cancellation c;
  std::uint64_t late = 1;
  const auto other = c.subscribe([] {});
  c.subscribe([&] {
    late = c.subscribe([] {});
    c.unsubscribe(other);
    c.cancel();
  });
  c.cancel();
  CHECK(late == 0);
}

TEST_CASE("of two threads that cancel, one calls") {
  for (int round = 0; round < 100; ++round) {
    cancellation c;
    std::atomic<int> told{0};
    for (int i = 0; i < 3; ++i) c.subscribe([&] { ++told; });
    std::thread other([&] { c.cancel(); });
    c.cancel();
    other.join();
    REQUIRE(told == 3);
  }
}

TEST_CASE("a subscriber is either called or told that it is too late") {
  for (int round = 0; round < 100; ++round) {
    cancellation c;
    std::atomic<int> told{0};
    std::thread other([&] { c.cancel(); });
    const auto id = c.subscribe([&] { ++told; });
    other.join();
    REQUIRE((id == 0) == (told == 0));
  }
}

}  // namespace
