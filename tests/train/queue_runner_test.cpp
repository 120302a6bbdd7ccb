// Threads that fill queues, and the coordinator that stops them together.
#include <catch2/catch.hpp>

#include <atomic>
#include <numeric>

#include <pinion/train.hpp>

#include "support/caught.hpp"
#include "support/own_session.hpp"

namespace {
namespace pn = pinion;
namespace tr = pinion::train;
using namespace std::chrono_literals;
}  // namespace

TEST_CASE_METHOD(own_session, "runners fill a queue from another until its input ends, and pass the end on") {
  auto in = pn::fifo_queue<int>({.shapes = {{}}, .name = "in"});
  auto out = pn::fifo_queue<int>({.capacity = 3, .shapes = {{}}, .name = "out"});
  tr::add_queue_runner({out, {out.enqueue(in.dequeue()), out.enqueue(in.dequeue())}});
  auto fill = in.enqueue_many(pn::range(20));
  auto shut = in.close();
  auto get = out.dequeue();
  sess.run(fill);
  sess.run(shut);
  tr::coordinator coord;
  tr::start_queue_runners(sess, coord);
  int sum = 0, n = 0;
  const auto end = caught([&] {
    for (;; ++n) sum += int(sess.run(get));
  });
  CHECK(end.code() == pn::errc::out_of_range);
  CHECK(n == 20);
  CHECK(sum == 190);
  coord.request_stop();
  coord.join();
}

TEST_CASE_METHOD(own_session, "a stop wakes the runners that wait for room") {
  auto q = pn::fifo_queue<int>({.capacity = 2, .name = "q"});
  auto size = q.size();
  const tr::queue_runner runner(q, {q.enqueue(1), q.enqueue(2)});
  tr::coordinator coord;
  runner.start(sess, coord);
  runner.start(sess, coord);  // it runs already
  while (int(sess.run(size)) < 2) std::this_thread::yield();
  coord.request_stop();
  coord.join();
  CHECK(int(sess.run(size)) == 2);
}

TEST_CASE_METHOD(own_session, "what fails in a runner stops all, and is thrown to who joins") {
  auto q = pn::fifo_queue<int>({.name = "q"});
  auto X = pn::placeholder<int>({}, "X");
  const tr::queue_runner runner(q, {q.enqueue(X)});
  tr::coordinator coord;
  runner.start(sess, coord);
  coord.wait_for_stop();
  CHECK(coord.should_stop());
  CHECK(refusal([&] { coord.join(); }, pn::errc::invalid_argument, "'X'") == "");
  CHECK(refusal([&] { tr::queue_runner(q, {}); }, pn::errc::invalid_argument, "nothing to run") == "");
}

TEST_CASE("the first error wins; the end of input is a clean stop") {
  tr::coordinator first;
  first.request_stop(pn::error(pn::errc::aborted, "one"));
  first.request_stop(pn::error(pn::errc::internal, "two"));
  CHECK(refusal([&] { first.join(); }, pn::errc::aborted, "one") == "");
  CHECK(refusal([&] { first.request_stop(pn::error(pn::errc::internal, "late")); }, pn::errc::internal, "late") == "");
  first.clear_stop();
  CHECK(!first.should_stop());
  first.request_stop(pn::error(pn::errc::out_of_range, "the end"));
  CHECK(first.should_stop());
  first.join();
  first.raise_requested_exception();
  CHECK(!first.failure());
}

TEST_CASE("threads that do not end are named, and waited for in the end") {
  std::atomic<bool> go{false};
  std::atomic<int> ran{0};
  {
    tr::coordinator coord;
    coord.launch("sleepy", [&] {
      while (!go) std::this_thread::yield();
      ++ran;
    });
    coord.launch("quick", [&] { ++ran; });
    coord.request_stop();
    CHECK(refusal([&] { coord.join({.stop_grace_period = 1ms}); }, pn::errc::deadline_exceeded, "'sleepy'") == "");
    coord.join({.stop_grace_period = 1ms, .ignore_live_threads = true});
    CHECK(!coord.wait_for_stop(0ms) == false);
    go = true;
  }
  CHECK(ran == 2);
}

TEST_CASE("join waits for all threads where nobody asks for a stop") {
  tr::coordinator coord;
  std::atomic<int> ran{0};
  for (int i = 0; i < 3; ++i) coord.launch("adds", [&] { ++ran; });
  coord.join();
  CHECK(ran == 3);
  CHECK(!coord.should_stop());
}
