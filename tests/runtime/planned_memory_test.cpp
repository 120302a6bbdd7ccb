// Plans of memory that are learnt from runs: what they give, and that a wrong one does no harm.
#include <pinion/device/cpu.hpp>
#include <pinion/runtime/step/planned_memory.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "support/dice.hpp"

namespace {

using namespace pinion;
using runtime::arena_use;
using runtime::planned_memory;

// Runs that take and drop blocks.
struct runs {
  arena_use use;
  std::vector<int> fed{0};
  std::optional<planned_memory> memory = std::optional<planned_memory>(std::in_place, use, fed);
  allocator* now = nullptr;

  void begin(std::int64_t elements = 1) {
    const std::vector<any_tensor> feeds{tensor<float>({elements}).untyped()};
    now = &memory->begin(feeds, devices::pool_allocator::of_cpus());
  }
  buffer_ref take(std::size_t bytes) { return buffer_ref(now->allocate(bytes)); }
  void end(bool failed = false) { memory->end(failed); }

  // Takes three blocks, of which two are in use at once. Returns where they were.
  std::vector<void*> three(std::size_t bytes, std::int64_t elements = 1) {
    begin(elements);
    std::vector<void*> places;
    buffer_ref a = take(bytes), b = take(bytes);
    places = {a->data(), b->data()};
    a = {};
    a = take(bytes);
    places.push_back(a->data());
    a = b = {};
    end();
    return places;
  }
  // Takes a block and returns it, so that it is in use at the end of the run.
  buffer_ref one(std::size_t bytes) {
    begin();
    const buffer_ref b = take(bytes);
    end();
    return b;
  }
};

TEST_CASE("after the first run the blocks are of an arena, as large as what is in use at once") {
  runs r;
  r.three(1000);
  CHECK(r.use.held == 0);
  CHECK(r.use.arena == 2 * 1024);
  CHECK(r.use.live == 2 * 1000);
  const auto places = r.three(1000);
  CHECK(r.use.held == 2 * 1024);
  CHECK(places[0] == places[2]);
  CHECK(r.three(1000) == places);
}

TEST_CASE("plans for several sizes of feeds share one memory") {
  runs r;
  for (int turn = 0; turn < 3; ++turn)
    for (const std::size_t bytes : {3200, 64, 640}) r.three(bytes, static_cast<std::int64_t>(bytes));
  CHECK(r.use.held == 2 * 3200);
}

TEST_CASE("a block that is in use when its run ends is not of the arena in later runs") {
  runs r;
  r.one(100);
  const buffer_ref first = r.one(100), second = r.one(100);
  CHECK(r.use.arena == 0);
  CHECK(r.use.leaves == 100);
  CHECK(first->data() != second->data());
}

TEST_CASE("an arena of which a block is still in use is another's no more, and ends with the block") {
  runs r;
  r.three(100);
  r.begin();
  buffer_ref kept = r.take(100);
  std::memset(kept->data(), 7, 100);
  r.end();
  CHECK(r.use.held == 0);
  for (int i = 0; i < 4; ++i)
    for (void* const place : r.three(100)) CHECK(place != kept->data());
  r.memory.reset();
  CHECK(r.use.held == 0);
  CHECK(static_cast<unsigned char*>(kept->data())[99] == 7);
  std::thread([last = std::move(kept)] {}).join();
}

TEST_CASE("a run that failed teaches nothing") {
  runs r;
  r.begin();
  r.take(100);
  r.end(true);
  CHECK(r.use.arena == 0);
  r.three(100);
  CHECK(r.use.arena == 2 * 128);
}

TEST_CASE("feeds that are smaller than known ones use their arena once many sizes have been seen") {
  runs r;
  for (std::int64_t fed = 1000; fed > 900; --fed) r.three(static_cast<std::size_t>(8 * fed), fed);
  const auto known = r.use.held.load();
  const auto before = r.three(8, 7), again = r.three(8, 7);
  CHECK(before == again);
  CHECK(r.use.held == known);
}

// Blocks that a run holds, each filled with a mark of its own.
struct marked {
  std::vector<std::pair<buffer_ref, unsigned char>> blocks;
  std::vector<std::size_t> sizes;
  unsigned char next = 1;

  void add(buffer_ref b, std::size_t bytes) {
    std::memset(b->data(), next, bytes);
    blocks.emplace_back(std::move(b), next++);
    sizes.push_back(bytes);
  }
  void drop(std::size_t i) {
    blocks.erase(blocks.begin() + static_cast<std::ptrdiff_t>(i));
    sizes.erase(sizes.begin() + static_cast<std::ptrdiff_t>(i));
  }
  bool intact() const {
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      const auto* const data = static_cast<const unsigned char*>(blocks[i].first->data());
      if (std::count(data, data + sizes[i], blocks[i].second) != static_cast<std::ptrdiff_t>(sizes[i])) return false;
    }
    return true;
  }
};

TEST_CASE("items take their blocks in any order, and what does not fit beside others is the device's") {
  runs r;
  const std::vector<any_tensor> feeds{tensor<float>({1}).untyped()};
  const auto run = [&](std::initializer_list<int> items) {
    std::vector<std::pair<int, const void*>> places;
    r.memory->begin_in_any_order(feeds, devices::pool_allocator::of_cpus());
    for (const int i : items) {
      runtime::item_memory own(*r.memory, i);
      const buffer_ref first(own.allocate(200)), second(own.allocate(100));
      places.emplace_back(i, first->data());
      places.emplace_back(i, second->data());
    }
    r.end();
    std::sort(places.begin(), places.end(), [](auto& a, auto& b) { return a.first < b.first; });
    return places;
  };
  run({0, 1, 2});
  const auto places = run({0, 1, 2});
  CHECK(r.use.held == 256 + 128);
  CHECK(run({2, 0, 1}) == places);
  CHECK(places[0].second == places[2].second);
}

TEST_CASE("threads that claim blocks with common memory never hold it at the same time") {
  runs r;
  const std::vector<any_tensor> feeds{tensor<float>({1}).untyped()};
  std::atomic<int> wrong{0};
  const auto work = [&](int item) {
    runtime::item_memory own(*r.memory, item);
    for (int i = 0; i < 3; ++i) {
      const buffer_ref b(own.allocate(256));
      std::memset(b->data(), item, 256);
      const auto* const data = static_cast<const unsigned char*>(b->data());
      wrong += std::count(data, data + 256, item) != 256;
    }
  };
  for (int run = 0; run < 100; ++run) {
    r.memory->begin_in_any_order(feeds, devices::pool_allocator::of_cpus());
    if (run == 0) {
      for (int item = 0; item < 8; ++item) work(item);  // one after the other: all have the same place
    } else {
      std::thread other([&] {
        for (int item = 0; item < 8; item += 2) work(item);
      });
      for (int item = 1; item < 8; item += 2) work(item);
      other.join();
    }
    r.end();
  }
  CHECK(wrong == 0);
}

TEST_CASE("no block in use is overwritten, however much runs differ from each other") {
  for (const std::uint64_t seed : {1, 2, 3, 4, 5, 6}) {
    pinion_tests::dice dice(seed);
    runs r;
    marked kept;  // beyond runs
    bool good = true;
    for (int run = 0; run < 200; ++run) {
      pinion_tests::dice habit(seed);  // what most runs do
      r.begin(static_cast<std::int64_t>(dice(seed)));
      marked held;
      for (int i = 0; i < 30; ++i) {
        pinion_tests::dice& now = dice(40) == 0 ? dice : habit;
        const std::size_t bytes = now(400);
        held.add(r.take(bytes), bytes);
        if (now(3) > 0) held.drop(now(held.blocks.size()));
      }
      good = good && held.intact();
      if (dice(10) == 0) kept.add(r.take(50), 50);
      if (dice(10) == 0 && !kept.blocks.empty()) kept.drop(dice(kept.blocks.size()));
      if (dice(20) == 0 && !held.blocks.empty()) {
        kept.blocks.push_back(held.blocks.back());
        kept.sizes.push_back(held.sizes.back());
      }
      held = {};
      r.end(dice(10) == 0);
      good = good && kept.intact();
    }
    CHECK(good);
  }
}

}  // namespace
