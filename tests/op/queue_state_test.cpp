// The state of a queue by itself: who goes on in which thread.
#include <catch2/catch.hpp>

#include <future>
#include <thread>

#include <pinion/state/queue.hpp>

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
