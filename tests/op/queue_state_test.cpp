// The state of a queue by itself: who goes on in which thread.
#include <catch2/catch.hpp>

#include <future>
#include <thread>

#include <pinion/state/queue.hpp>

#include "support/counted_new.hpp"

namespace {

using namespace pinion;
using elements = std::vector<state::queue_element>;

node fifo_of_one_number() {
  node n;
  n.op = "FIFOQueueV2";
  n.attrs.set("capacity", std::int64_t{-1});
  state::set_components(n.attrs, {{dtype::float32}, {shape{}}});
  return n;
}

}  // namespace

TEST_CASE("a step that goes on because a dequeue was cancelled does so in the pool, not in the thread that cancels") {
  thread_pool pool(1);
  const auto q = std::make_shared<state::queue>("q", fifo_of_one_number(), &pool);
  cancellation stop;
  std::optional<errc> failed;
  q->take(2, false, &stop, [&](const outcome<elements>& taken) { failed = taken.failure()->code(); });
  q->put({{tensor<float>(7.0f).untyped()}}, nullptr, [](outcome<>) {});
  std::promise<std::thread::id> went_on;
  q->take(1, false, nullptr, [&](const outcome<elements>& one) {
    went_on.set_value(one && one.value().size() == 1 ? std::this_thread::get_id() : std::thread::id());
  });
  stop.cancel();
  CHECK(failed == errc::cancelled);
  const auto id = went_on.get_future().get();
  CHECK(id != std::thread::id());
  CHECK(id != std::this_thread::get_id());
}

// Two steps that want an element of a queue with one: the first is cancelled, while an allocation fails.
struct two_takers {
  thread_pool pool{1};
  std::shared_ptr<state::queue> q = std::make_shared<state::queue>("q", fifo_of_one_number(), &pool);
  cancellation stop;
  std::promise<void> first, second;

  void put_one() {
    q->put({{tensor<float>(7.0f).untyped()}}, nullptr, [](outcome<>) {});
  }
  void take_by_second() {
    q->take(1, false, nullptr, [&](const outcome<elements>& one) {
      if (one && one.value().size() == 1) second.set_value();
    });
  }
  static bool comes(std::promise<void>& what) {
    return what.get_future().wait_for(std::chrono::seconds(10)) == std::future_status::ready;
  }
};

TEST_CASE("whichever allocation fails as a waiting dequeue is cancelled, both steps are told, and no element is lost") {
  bool failed = true;
  for (long n = 0; failed; ++n) {
    INFO("allocation " << n);
    two_takers t;
    t.q->take(2, false, &t.stop, [&](const outcome<elements>&) { t.first.set_value(); });
    t.put_one();
    t.take_by_second();
    failed = counted_new::with_failure(n, [&] { t.stop.cancel(); });
    REQUIRE(two_takers::comes(t.first));
    REQUIRE(two_takers::comes(t.second));
  }
}

TEST_CASE("whichever allocation fails as a step is given up, what it has taken comes to the next") {
  bool failed = true;
  for (long n = 0; failed; ++n) {
    INFO("allocation " << n);
    two_takers t;
    t.put_one();
    t.q->take(1, false, &t.stop, [&](const outcome<elements>&) { t.first.set_value(); });
    REQUIRE(two_takers::comes(t.first));
    t.take_by_second();
    failed = counted_new::with_failure(n, [&] { t.stop.cancel(cancellation::reason::given_up); });
    REQUIRE(two_takers::comes(t.second));
  }
}

TEST_CASE("whichever allocation fails as a dequeue begins, its step is told or it throws, and no element is lost") {
  bool failed = true;
  for (long n = 0; failed; ++n) {
    INFO("allocation " << n);
    two_takers t;
    t.put_one();
    int told = 0;
    bool has_thrown = false;
    std::size_t taken = 0;
    failed = counted_new::with_failure(n, [&] {
      try {
        t.q->take(1, false, &t.stop, [&](const outcome<elements>& how) {
          ++told;
          if (how) taken = how.value().size();
        });
      } catch (const std::exception&) {
        has_thrown = true;
      }
    });
    CHECK(told + has_thrown == 1);
    CHECK(t.q->size() + taken == 1);
  }
}
