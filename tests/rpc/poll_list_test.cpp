// What a network's thread looks at while it does not sleep.
#include <functional>
#include <memory>
#include <utility>

#include <catch2/catch.hpp>

#include <pinion/rpc/transport/poll_list.hpp>

namespace {

using pinion::rpc::poll_list, pinion::rpc::polled;

struct watched final : polled {
  explicit watched(poll_list& l) : list(l) {
    list.enter(*this);
    list.add(*this);
  }
  ~watched() override { list.leave(*this); }
  bool look() override {
    ++looks;
    if (when_looked_at) return when_looked_at(), true;
    return std::exchange(changed, false);
  }
  bool rest() override {
    ++rests;
    return !changed;
  }
  void abandon() override { list.leave(*this); }

  poll_list& list;
  bool changed = false;
  int looks = 0, rests = 0;
  std::function<void()> when_looked_at;
};

TEST_CASE("those that were added are looked at, and told of when they have changed") {
  poll_list list;
  CHECK(list.empty());
  watched a(list), b(list);
  list.add(a);  // again
  a.changed = true;
  CHECK(list.look() == 1);
  CHECK(list.look() == 0);
  CHECK(a.looks == 2);
  CHECK(b.looks == 2);
}

TEST_CASE("all rest before the thread sleeps, but for one that has changed meanwhile") {
  poll_list list;
  watched a(list), b(list);
  b.changed = true;
  CHECK_FALSE(list.rest());
  CHECK(a.rests == 1);
  CHECK(list.look() == 1);
  CHECK(a.looks == 0);
  CHECK(list.rest());
  CHECK(list.empty());
  list.add(a);
  CHECK_FALSE(list.empty());
}

TEST_CASE("one at which nothing changes for long rests alone, and costs the others nothing") {
  poll_list list;
  watched busy(list), idle(list);
  for (int i = 0; i < 10'000; ++i) {
    busy.changed = true;
    list.look();
  }
  CHECK(busy.looks == 10'000);
  CHECK(busy.rests == 0);
  CHECK(idle.rests == 1);
  CHECK(idle.looks < 5'000);
}

TEST_CASE("one that is looked at may end others, itself, and bring new ones") {
  poll_list list;
  auto first = std::make_unique<watched>(list), second = std::make_unique<watched>(list);
  std::unique_ptr<watched> third;
  first->when_looked_at = [&] {
    second = nullptr;
    third = std::make_unique<watched>(list);
    first = nullptr;
  };
  const auto keep = first->when_looked_at;  // the closure outlives what it ends
  first->when_looked_at = [&keep] { keep(); };
  CHECK(list.look() == 1);
  REQUIRE(third);
  CHECK(third->looks == 1);
  CHECK_FALSE(first);
  CHECK_FALSE(second);
  list.abandon();
  CHECK(list.empty());
}

}  // namespace
