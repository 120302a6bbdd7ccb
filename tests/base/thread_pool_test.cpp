// Threads: loops in chunks, exceptions, helpers that come late.
#include <pinion/base/thread_pool.hpp>

#include <catch2/catch.hpp>

#include <chrono>
#include <future>
#include <stdexcept>
#include <vector>

#include <pinion/base/cancellable_work.hpp>

#include <support/caught.hpp>

namespace {

using pinion::thread_pool;

TEST_CASE("a pool without threads runs a closure in the caller") {
  thread_pool pool(0);
  std::thread::id ran;
  pool.schedule([&] { ran = std::this_thread::get_id(); });
  CHECK(ran == std::this_thread::get_id());
  CHECK(pool.threads() == 0);
}

TEST_CASE("a pool with threads runs a closure in one of them") {
  thread_pool pool(2);
  std::promise<std::thread::id> ran;
  pool.schedule([&] { ran.set_value(std::this_thread::get_id()); });
  CHECK(ran.get_future().get() != std::this_thread::get_id());
}

TEST_CASE("the destructor runs what is queued") {
  std::atomic<int> ran{0};
  {
    thread_pool pool(1);
    for (int i = 0; i < 100; ++i) pool.schedule([&] { ++ran; });
  }
  CHECK(ran == 100);
}

TEST_CASE("lines are served round robin: one of a thousand closures holds up another by one") {
  std::promise<void> gate;
  std::vector<int> order;
  {
    thread_pool pool(1);
    pool.schedule([opened = gate.get_future().share()] { opened.wait(); }, 7);
    for (int i = 0; i < 1000; ++i) pool.schedule([&order] { order.push_back(1); }, 1);
    for (int i = 0; i < 2; ++i) pool.schedule([&order] { order.push_back(2); }, 2);
    gate.set_value();
  }
  REQUIRE(order.size() == 1002);
  CHECK(std::vector(order.begin(), order.begin() + 5) == std::vector{1, 2, 1, 2, 1});
}

// Closures that hold threads until they are let go. It is made before the pool, and goes after it.
class holders {
 public:
  // Returns when `until` of them are at work.
  void hold(thread_pool& pool, std::uint64_t line, int closures, int until) {
    for (int i = 0; i < closures; ++i)
      pool.schedule(
          [this] {
            ++inside_;
            opened_.wait();
          },
          line);
    while (inside_ < until) std::this_thread::yield();
  }
  void let_go() { gate_.set_value(); }

 private:
  std::promise<void> gate_;
  const std::shared_future<void> opened_ = gate_.get_future().share();
  std::atomic<int> inside_{0};
};
bool runs(thread_pool& pool, std::uint64_t line) {
  const auto ran = std::make_shared<std::promise<void>>();
  pool.schedule([ran] { ran->set_value(); }, line);
  return ran->get_future().wait_for(std::chrono::seconds(20)) == std::future_status::ready;
}

TEST_CASE("a line is attended though closures of others hold all threads and never end") {
  holders endless, others;
  thread_pool pool(2, 0, 3);
  endless.hold(pool, 1, 2, 2);
  for (const std::uint64_t line : {2u, 3u, 2u}) CHECK(runs(pool, line));
  others.hold(pool, 4, 1, 1);  // a spare thread
  CHECK(runs(pool, 5));
  CHECK(pool.spares() <= 3);
  endless.let_go();
  others.let_go();
}

TEST_CASE("a line gets no spare thread while a closure of it is at work, and a pool has no more of them than it may") {
  holders first, others;
  thread_pool pool(2, 0, 2);
  first.hold(pool, 1, 100, 2);
  CHECK(pool.spares() == 0);
  for (std::uint64_t line = 2; line < 12; ++line) others.hold(pool, line, 1, line < 4 ? static_cast<int>(line) - 1 : 2);
  CHECK(pool.spares() == 2);
  first.let_go();
  others.let_go();
}

TEST_CASE("spare threads end when they are not needed") {
  holders endless;
  thread_pool pool(1, 0, 2);
  endless.hold(pool, 1, 1, 1);
  CHECK(runs(pool, 2));
  CHECK(pool.spares() == 1);
  endless.let_go();
  while (pool.spares() > 0) std::this_thread::yield();
}

TEST_CASE("a loop runs every chunk exactly once, on any number of threads") {
  for (int threads : {0, 1, 3}) {
    thread_pool pool(threads);
    for (std::int64_t chunks : {0, 1, 2, 7, 1000}) {
      std::vector<std::atomic<int>> ran(static_cast<std::size_t>(chunks));
      pool.for_each_chunk(chunks, [&](std::int64_t i) { ++ran[static_cast<std::size_t>(i)]; });
      CHECK(std::all_of(ran.begin(), ran.end(), [](const auto& n) { return n == 1; }));
    }
  }
}

TEST_CASE("a loop of work that is cancelled begins no more chunks, in its caller and in those who help") {
  for (int threads : {0, 3}) {
    thread_pool pool(threads);
    pinion::cancellation stop;
    const auto failed = caught([&] {
      const pinion::cancellable_work mine(stop);
      std::atomic<int> begun{0};
      pool.for_each_chunk(std::int64_t{1} << 40, [&](std::int64_t) {  // for ever
        if (++begun == 100) stop.cancel();
      });
    });
    CHECK(failed.code() == pinion::errc::cancelled);
  }
}

TEST_CASE("what the bodies wrote is there when the loop returns") {
  thread_pool pool(3);
  std::vector<int> plain(512, 0);
  for (int round = 0; round < 20; ++round)
    pool.for_each_chunk(512, [&](std::int64_t i) { ++plain[static_cast<std::size_t>(i)]; });
  CHECK(plain == std::vector<int>(512, 20));
}

TEST_CASE("a body's exception reaches the caller, and the pool goes on") {
  for (int threads : {0, 2}) {
    thread_pool pool(threads);
    const auto loop = [&] {
      pool.for_each_chunk(50, [](std::int64_t i) {
        if (i == 17) throw std::runtime_error("chunk 17");
      });
    };
    CHECK_THROWS_WITH(loop(), "chunk 17");
    std::atomic<int> ran{0};
    pool.for_each_chunk(50, [&](std::int64_t) { ++ran; });
    CHECK(ran == 50);
  }
}

TEST_CASE("when every body throws, one of the exceptions is rethrown") {
  thread_pool pool(2);
  CHECK_THROWS_AS(pool.for_each_chunk(8, [](std::int64_t) { throw std::logic_error("no"); }), std::logic_error);
}

TEST_CASE("a loop does not wait for threads that are busy, and late helpers touch nothing of it") {
  std::promise<void> gate;
  thread_pool pool(1);
  pool.schedule([opened = gate.get_future().share()] { opened.wait(); });
  {
    auto sum = std::make_unique<std::int64_t>(0);
    pool.for_each_chunk(10, [&](std::int64_t i) { *sum += i; });  // in the caller alone: the thread is taken
    CHECK(*sum == 45);
  }
  gate.set_value();
}

TEST_CASE("loops nest inside closures of the same pool") {
  thread_pool pool(2);
  std::atomic<int> ran{0};
  for (int round = 0; round < 100; ++round)
    pool.for_each_chunk(8, [&](std::int64_t) { pool.for_each_chunk(8, [&](std::int64_t) { ++ran; }); });
  CHECK(ran == 6400);
}

// Work of a number of units. Its caller does none.
struct units final : pinion::joint_work {
  std::atomic<int> left;
  std::atomic<int> inside{0}, most_inside{0};
  units(int n, int helpers) : joint_work(helpers), left(n) {}
  bool calls_for_help() const override { return left > 0; }
  bool help() override {
    const int now = ++inside;
    for (int most = most_inside; most < now && !most_inside.compare_exchange_weak(most, now);) {
    }
    const bool some = left > 0 && left-- > 0;
    --inside;
    return some;
  }
};

TEST_CASE("threads do the work that a caller shows, no more of them than it takes") {
  thread_pool pool(3);
  for (const int helpers : {1, 2}) {
    units work(1000, helpers);
    {
      const thread_pool::shown_work here(pool, work);
      REQUIRE(here.shown());
      pool.call_for_help();
      while (work.left > 0) std::this_thread::yield();
    }
    CHECK(work.inside == 0);
    CHECK(work.most_inside <= helpers);
  }
}

TEST_CASE("a caller that waits helps with the loops of others") {
  thread_pool pool(1);
  std::atomic<bool> over{false}, helped{false};
  const auto caller = std::this_thread::get_id();
  pool.schedule([&] {
    while (!helped)
      pool.for_each_chunk(4, [&](std::int64_t) { helped = helped || std::this_thread::get_id() == caller; });
    over = true;
    pool.wake_callers();
  });
  pool.help_until([&] { return over.load(); });
  CHECK(helped);
}

TEST_CASE("a pool that lends loops no helper runs them in the caller") {
  thread_pool pool(3, 0);
  std::atomic<int> elsewhere{0};
  const auto caller = std::this_thread::get_id();
  pool.for_each_chunk(100, [&](std::int64_t) { elsewhere += std::this_thread::get_id() != caller; });
  CHECK(elsewhere == 0);
}

TEST_CASE("loops of several callers share one pool") {
  thread_pool pool(2);
  std::atomic<int> ran{0};
  std::vector<std::thread> callers;
  for (int t = 0; t < 3; ++t)
    callers.emplace_back([&] {
      for (int i = 0; i < 50; ++i) pool.for_each_chunk(5, [&](std::int64_t) { ++ran; });
    });
  for (auto& t : callers) t.join();
  CHECK(ran == 750);
}

}  // namespace
