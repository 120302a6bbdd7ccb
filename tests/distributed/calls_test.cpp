// Threads for calls and for long work: shares of clients, what is dropped, threads that cannot be started.
#include <catch2/catch.hpp>

#include <pthread.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <future>
#include <memory>
#include <thread>
#include <vector>

#include <pinion/base/cancellable_work.hpp>
#include <pinion/distributed/server/calls.hpp>
#include <pinion/distributed/worker/builders.hpp>

#include <support/caught.hpp>

namespace {

using namespace pinion;
using distributed::builders;
using distributed::calls;

// Calls that wait until they are let go. It is made before those who run them.
class waiting_calls {
 public:
  std::function<void()> one() {
    return [this] {
      ++inside_;
      opened_.wait();
    };
  }
  int inside() const { return inside_; }
  void wait_for(int n) const {
    while (inside_ < n) std::this_thread::yield();
  }
  void let_go() { gate_.set_value(); }

 private:
  std::promise<void> gate_;
  const std::shared_future<void> opened_ = gate_.get_future().share();
  std::atomic<int> inside_{0};
};

TEST_CASE("L2: a quarter of the threads work for one client, and the others for other clients") {
  waiting_calls first, second;
  calls all(8);
  for (int i = 0; i < 100; ++i) all.begin(1, first.one());
  for (int i = 0; i < 100; ++i) all.begin(2, second.one());
  first.wait_for(2);
  second.wait_for(2);
  std::promise<void> ran;
  all.begin(3, [&] { ran.set_value(); });
  ran.get_future().wait();
  CHECK(first.inside() == 2);
  CHECK(second.inside() == 2);
  first.let_go();
  second.let_go();
  first.wait_for(100);
  second.wait_for(100);
}

TEST_CASE("L2: where all threads are taken, clients are served round robin") {
  waiting_calls all_threads;
  std::vector<int> order;
  calls one(1);
  one.begin(7, all_threads.one());
  all_threads.wait_for(1);
  for (int i = 0; i < 3; ++i) one.begin(1, [&] { order.push_back(1); });
  for (int i = 0; i < 3; ++i) one.begin(2, [&] { order.push_back(2); });
  all_threads.let_go();
  REQUIRE(one.join(std::chrono::steady_clock::now() + std::chrono::seconds(20)));
  CHECK(order == std::vector{1, 2, 1, 2, 1, 2});
}

TEST_CASE("L2: a client that has too many calls waiting is told so, and the others are not") {
  waiting_calls first;
  calls all(4);
  error why(errc::unknown, "");
  for (int i = 0; i < 2000 && why.code() == errc::unknown; ++i) try {
      all.begin(1, first.one());
    } catch (const error& e) {
      why = e;
    }
  CHECK(why.code() == errc::resource_exhausted);
  CHECK_THAT(why.what(), Catch::Contains("1024") && Catch::Contains("server_config.limits.threads"));
  std::promise<void> ran;
  all.begin(2, [&] { ran.set_value(); });
  ran.get_future().wait();
  first.let_go();
}

TEST_CASE("F4: what a client that is gone wants to call is not begun") {
  waiting_calls first;
  std::atomic<int> ran{0};
  calls all(1);
  all.begin(1, first.one());
  first.wait_for(1);
  for (int i = 0; i < 10; ++i) all.begin(1, [&] { ++ran; });
  all.begin(2, [&] { ++ran; });
  all.drop(1);
  first.let_go();
  CHECK(all.join(std::chrono::steady_clock::now() + std::chrono::seconds(20)));
  CHECK(ran == 1);
}

// No thread can be started while it lives: none has room for so large a stack.
class no_threads {
 public:
  no_threads() {
    ::pthread_getattr_default_np(&before_);
    pthread_attr_t huge;
    ::pthread_getattr_default_np(&huge);
    ::pthread_attr_setstacksize(&huge, std::size_t{1} << 46);
    set_ = ::pthread_setattr_default_np(&huge) == 0;
    ::pthread_attr_destroy(&huge);
  }
  ~no_threads() {
    ::pthread_setattr_default_np(&before_);
    ::pthread_attr_destroy(&before_);
  }
  bool set() const { return set_; }

 private:
  pthread_attr_t before_;
  bool set_ = false;
};

TEST_CASE("L2: a thread that the system does not start fails one call, unless others come for it") {
  waiting_calls first;
  std::atomic<int> ran{0};
  calls all(8);
  {
    const no_threads now;
    REQUIRE(now.set());
    const error why = caught([&] { all.begin(1, [&] { ++ran; }); });
    CHECK(why.code() == errc::resource_exhausted);
    CHECK_THAT(why.what(), Catch::Contains("the system starts no thread"));
  }
  all.begin(1, first.one());
  first.wait_for(1);
  {
    const no_threads now;
    all.begin(2, [&] { ran += 10; });  // waits for the thread that there is
  }
  first.let_go();
  CHECK(all.join(std::chrono::steady_clock::now() + std::chrono::seconds(20)));
  CHECK(ran == 10);
}

// Work that goes on until it is cancelled, or let go.
struct work_under_way {
  struct state {
    std::atomic<bool> begun{false}, over{false}, cancelled{false};
  };
  const std::shared_ptr<state> is = std::make_shared<state>();  // work may end after its test has looked
  std::function<void()> one() const {
    return [is = is] {
      is->begun = true;
      is->cancelled = caught([&] {
                        while (!is->over) cancellable_work::check(), std::this_thread::yield();
                      }).code() == errc::cancelled;
      is->over = true;
    };
  }
};
template <class Threads, class Add>
void check_that_work_is_cancelled(Threads& all, const Add& add) {
  const work_under_way its, of_another;
  add(all, 1, its.one());
  add(all, 2, of_another.one());
  while (!its.is->begun || !of_another.is->begun) std::this_thread::yield();
  all.drop(1);
  while (!its.is->over) std::this_thread::yield();
  CHECK(its.is->cancelled);
  CHECK_FALSE(of_another.is->over);
  const work_under_way later;
  later.is->over = true;
  add(all, 1, later.one());
  of_another.is->over = true;
}

TEST_CASE("F4: work under way for a client that is gone is cancelled, and that of others is not") {
  builders building(2);
  check_that_work_is_cancelled(building, [](builders& b, auto key, auto what) { b.add(key, what); });
  CHECK(building.wait_until_idle(std::chrono::steady_clock::now() + std::chrono::seconds(20)));
  calls calling(8);
  check_that_work_is_cancelled(calling, [](calls& c, auto key, auto what) { c.begin(key, what); });
  CHECK(calling.join(std::chrono::steady_clock::now() + std::chrono::seconds(20)));
}

TEST_CASE("F4: long work for a client that is gone is dropped and freed, and that of others is not") {
  waiting_calls first;
  std::atomic<int> ran{0};
  const auto graph = std::make_shared<int>();
  {
    builders all(1);
    all.add(1, first.one());
    first.wait_for(1);
    for (int i = 0; i < 10; ++i) all.add(1, [&ran, graph] { ++ran; });
    all.add(2, [&ran] { ++ran; });
    for (int i = 0; i < 10; ++i) all.add(4, [&ran] { ran += 100; });
    all.drop(1);
    all.drop(3);
    all.drop(4);
    all.add(1, [&ran] { ran += 10; });
    first.let_go();
    CHECK(all.wait_until_idle(std::chrono::steady_clock::now() + std::chrono::seconds(20)));
  }
  CHECK(ran == 11);
  CHECK(graph.use_count() == 1);
}

}  // namespace
