// Prefetch and parallel map: the same elements as without threads, and an end from every state.
#include "support.hpp"

#include <catch2/catch.hpp>

#include <atomic>
#include <condition_variable>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>

namespace {

namespace pn = pinion;
namespace data = pinion::data;
using data::range;

std::int64_t squared(std::int64_t i) {
  return i * i;
}

// Waits until it is told to stop.
void wait(const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable_any never;
  std::unique_lock hold(mutex);
  never.wait(hold, stop, [] { return false; });
}

// Whether nothing is left of a pass, begun and ended at once, over the dataset that `make` gives. That has a function
// in it which its passes, and their threads, hold.
template <class Make>
bool leaves_nothing(Make make) {
  auto token = std::make_shared<std::int64_t>(1);
  const std::weak_ptr<std::int64_t> held = token;
  make([token = std::move(token)](std::int64_t i) { return i * *token; }).iterate();
  return held.expired();
}

// Whether a generator that waits, behind which `stages` stand, is told to stop when a pass is ended.
template <class Stages>
bool is_told(Stages stages) {
  std::promise<void> waits;
  bool told = false;
  const auto generator = data::from_generator([&](std::stop_token stop) {
    waits.set_value();
    wait(stop);
    told = true;
    return std::optional<int>();
  });
  {
    const auto pass = stages(generator).iterate();
    waits.get_future().wait();
  }
  return told;
}

}  // namespace

TEST_CASE("a parallel map keeps the order and the elements, for any number of threads") {
  const std::string expected = text(range(200).map(squared));
  for (const int n : {1, 2, 3, 8}) CHECK(text(range(200).map(squared, {.parallel = n})) == expected);
  CHECK(text(range(0).map(squared, {.parallel = 4})) == "");
  CHECK(text(range(1).map(squared, {.parallel = 4})) == "0");
}

TEST_CASE("a parallel map keeps the order though later elements are done first") {
  std::promise<void> later;
  const auto go = later.get_future().share();
  const auto slow_first = [&later, go](std::int64_t i) {
    if (i == 0) go.wait();
    if (i == 1) later.set_value();
    return i;
  };
  CHECK(text(range(3).map(slow_first, {.parallel = 2})) == "0 1 2");
}

TEST_CASE("a prefetched dataset is the same as without, anywhere") {
  const auto plain = range(50).shuffle(10, 4);
  const std::string expected = text(plain.map(squared).batch(7).repeat(3));
  for (const int n : {1, 2, 100}) {
    CHECK(text(plain.map(squared).batch(7).repeat(3).prefetch(n)) == expected);
    CHECK(text(plain.prefetch(n).map(squared).prefetch(n).batch(7).prefetch(n).repeat(3)) == expected);
    CHECK(text(plain.prefetch(n).map(squared, {.parallel = 3}).batch(7).repeat(3).prefetch(n)) == expected);
  }
}

TEST_CASE("prefetch makes no more ahead than it is told") {
  auto made = std::make_shared<std::atomic<int>>(0);
  auto pass = data::from_generator([made] { return std::optional(made->fetch_add(1)); }).prefetch(3).iterate();
  for (int i = 0; i < 100; ++i) {
    pass.next();
    CHECK(made->load() <= i + 1 + 3);
  }
}

TEST_CASE("an exception arrives at its place from any depth of threads") {
  const auto failing = [](std::int64_t i) { return i == 20 ? throw std::runtime_error("twenty") : i; };
  for (int n = 1; n < 5; ++n) {
    auto pass = range(40).map(failing, {.parallel = n}).prefetch(2).map(squared, {.parallel = n}).prefetch(n).iterate();
    for (std::int64_t i = 0; i < 20; ++i) CHECK(std::get<0>(*pass.next()) == i * i);
    CHECK_THROWS_WITH(pass.next(), "twenty");
    CHECK_FALSE(pass.next());
  }
}

TEST_CASE("the first of several exceptions is the one of the first element") {
  const auto failing = [](std::int64_t i) -> std::int64_t { throw std::runtime_error(std::to_string(i)); };
  for (int round = 0; round < 50; ++round)
    CHECK_THROWS_WITH(range(10).map(failing, {.parallel = 4}).iterate().next(), "0");
}

TEST_CASE("an exception of a source arrives through a parallel map") {
  const auto source = data::from_generator(
      [i = 0]() mutable { return i == 5 ? throw std::runtime_error("source") : std::optional(i++); });
  auto pass = source.map([](int i) { return i; }, {.parallel = 3}).iterate();
  CHECK(text(pass, 5) == "0 1 2 3 4");
  CHECK_THROWS_WITH(pass.next(), "source");
}

TEST_CASE("a pass ends promptly wherever it is left") {
  for (int taken = 0; taken < 12; ++taken) {
    auto pass = range(1'000'000'000)
                    .map(squared, {.parallel = 3})
                    .prefetch(4)
                    .shuffle(5, 1)
                    .batch(2)
                    .prefetch(2)
                    .repeat()
                    .iterate();
    for (int i = 0; i < taken; ++i) CHECK(pass.next());
  }
}

TEST_CASE("a pass that is never asked for an element ends, and leaves nothing") {
  for (int i = 0; i < 50; ++i)
    CHECK(leaves_nothing([](auto f) { return range(10).map(f, {.parallel = 2}).prefetch(1); }));
}

TEST_CASE("the request to stop reaches a generator that waits, through every stage") {
  CHECK(is_told([](auto waiting) { return waiting.prefetch(1); }));
  CHECK(is_told([](auto waiting) { return waiting.prefetch(1).prefetch(1); }));
  CHECK(is_told([](auto waiting) { return waiting.map([](int i) { return i; }, {.parallel = 3}).prefetch(2); }));
  const auto all = [](const pn::tensor<int>&) { return true; };
  CHECK(is_told([&](auto waiting) { return waiting.cache().shuffle(10).repeat().batch(3).filter(all).prefetch(1); }));
}

TEST_CASE("stages that would go on for ever without an element stop when asked to, and leave nothing") {
  const auto none = [](std::int64_t) { return false; };
  const std::int64_t far = std::int64_t{1} << 60;
  CHECK(leaves_nothing([&](auto f) { return range(1'000'000'000'000).map(f).filter(none).prefetch(1); }));
  CHECK(leaves_nothing([&](auto f) { return range(10).repeat().map(f).filter(none).prefetch(1); }));
  CHECK(leaves_nothing([&](auto f) { return range(10).repeat().map(f).skip(far).prefetch(1); }));
  CHECK(leaves_nothing([&](auto f) { return range(10).repeat().skip(far).map(f).prefetch(1); }));
  CHECK(leaves_nothing([&](auto f) { return range(far).shard(far / 2, far / 2 - 1).map(f).prefetch(1); }));
  CHECK(leaves_nothing([&](auto f) { return range(10).map(f).prefetch(1).filter(none).repeat().take(3).prefetch(1); }));
}

TEST_CASE("a pass that was stopped in the middle leaves no half cache") {
  const auto kept = range(1000).map(squared).cache();
  for (int i = 0; i < 20; ++i) kept.prefetch(4).iterate().next();
  CHECK(text(kept) == text(range(1000).map(squared)));
}

TEST_CASE("passes of one dataset run in several threads at once") {
  const auto shared = range(100).shuffle(100, 1).map(squared, {.parallel = 2}).cache().batch(10).prefetch(2);
  std::vector<std::future<std::string>> results;
  for (int i = 0; i < 4; ++i) results.push_back(std::async(std::launch::async, [&] { return text(shared); }));
  const std::string expected = text(shared);
  for (auto& r : results) CHECK(r.get() == expected);
}

TEST_CASE("a pass may be moved while its threads run") {
  auto pass = range(10).map(squared, {.parallel = 2}).prefetch(2).iterate();
  pass.next();
  auto moved = std::move(pass);
  CHECK(text(moved) == "1 4 9 16 25 36 49 64 81");
}
