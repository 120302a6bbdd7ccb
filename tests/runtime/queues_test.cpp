// Queues: what comes out, who waits, and how waiting ends. The rules are TensorFlow's, tests named after them.
#include <catch2/catch.hpp>

#include <algorithm>
#include <future>
#include <set>
#include <thread>

#include <pinion/session.hpp>

#include "support/caught.hpp"
#include "support/own_graph.hpp"

namespace {

namespace pn = pinion;
using pn::errc;

// A graph with a session on it, and a step in a thread of its own.
struct bench : own_graph {
  std::optional<pn::session> sess;

  pn::session& on() {
    if (!sess) sess.emplace(pn::session_options{.graph = &g});
    return *sess;
  }
  template <class... F>
  auto run(const F&... f) {
    return on().run(f...);
  }
  template <class... F>
  auto later(const F&... f) {
    on();
    return std::async(std::launch::async, [this, f...] { return sess->run(f...); });
  }
  // Waits until the queue's size is that; by the queue itself, not by the clock.
  void until_size(const pn::expr<int>& size, int n) {
    while (on().run(size) != n) std::this_thread::yield();
  }
};

std::vector<int> list(const pn::tensor<int>& t) {
  return {t.span().begin(), t.span().end()};
}

}  // namespace

TEST_CASE("a fifo queue yields elements in the order they were put") {
  bench b;
  auto q = pn::fifo_queue<int, float>({.capacity = 10, .name = "q"});
  auto put = q.enqueue_many(pn::constant<int>({1, 2, 3}), pn::constant<float>({{1, 1}, {2, 2}, {3, 3}}));
  auto one = q.enqueue(4, pn::tensor<float>::of({4, 4}));
  auto [n, x] = q.dequeue();
  auto size = q.size();
  b.run(put);
  b.run(one);
  CHECK(b.run(size) == 4);
  for (int i = 1; i <= 4; ++i) {
    const auto [got, row] = b.run(n, x);
    CHECK(got == i);
    CHECK(row == pn::tensor<float>::of({float(i), float(i)}));
  }
  CHECK(q.op() == "FIFOQueueV2");
  CHECK(n.op() == "QueueDequeueV2");
}

TEST_CASE("an enqueue waits while the queue is full, a dequeue while it is empty") {
  bench b;
  auto q = pn::fifo_queue<int>({.capacity = 1});
  auto put = q.enqueue(1);
  auto get = q.dequeue();
  auto waiting = b.later(get);
  b.run(put);
  CHECK(waiting.get() == 1);
  b.run(put);
  auto second = b.later(put);
  CHECK(b.run(get) == 1);
  second.get();
  CHECK(b.run(get) == 1);
}

TEST_CASE("dequeue_many collects elements as they arrive, more than the capacity") {
  bench b;
  auto q = pn::fifo_queue<int>({.capacity = 2, .shapes = {{}}});
  auto X = pn::placeholder<int>({pn::unknown}, "X");
  auto put = q.enqueue_many(X);
  auto get = q.dequeue_many(6);
  auto waiting = b.later(get);
  b.on().run({{X, pn::tensor<int>::of({0, 1, 2, 3})}}, put);
  b.on().run({{X, pn::tensor<int>::of({4, 5})}}, put);
  CHECK(list(waiting.get()) == std::vector{0, 1, 2, 3, 4, 5});
  CHECK(b.run(q.dequeue_many(0)).shape() == pn::shape{0});
}

TEST_CASE("more elements than a queue takes at once are refused, however few bytes they have") {
  bench b;
  auto q = pn::fifo_queue<float>({.shapes = {{0}}, .name = "of_nothing"});
  auto X = pn::placeholder<float>({pn::unknown, 0}, "X");
  auto put = q.enqueue_many(X);
  CHECK(refusal(
            [&] {
              b.on().run({{X, pn::tensor<float>({1 << 29, 0})}}, put);
            },
            errc::resource_exhausted, "536870912 elements", "'of_nothing'", "several steps") == "");
  b.on().run({{X, pn::tensor<float>({3, 0})}}, put);
  CHECK(b.run(q.size()) == 3);
}

TEST_CASE("a cancelled dequeue_many gives its elements back, in order") {
  bench b;
  auto q = pn::fifo_queue<int>({.shapes = {{}}, .name = "kept"});
  auto put = q.enqueue_many(pn::constant<int>({1, 2, 3}));
  auto many = q.dequeue_many(5);
  auto stuck = pn::group(pn::operation(many));
  auto get = q.dequeue();
  auto size = q.size();
  pn::session_options impatient{.graph = &b.g, .operation_timeout = std::chrono::milliseconds(50)};
  pn::session short_lived(impatient);
  short_lived.run(put);
  CHECK(refusal([&] { short_lived.run(stuck); }, errc::deadline_exceeded) == "");
  CHECK(short_lived.run(size) == 3);
  CHECK(short_lived.run(get) == 1);
  CHECK(short_lived.run(get) == 2);
}

TEST_CASE("a step that is given up gives back all that it has dequeued, in order") {
  bench b;
  auto q = pn::fifo_queue<int>({.shapes = {{}}, .name = "full"});
  auto never = pn::fifo_queue<int>({.name = "empty"});
  auto put = q.enqueue_many(pn::constant<int>({1, 2, 3, 4}));
  auto two = pn::group(pn::operation(q.dequeue_many(2)), pn::operation(never.dequeue()));
  auto one = pn::group(pn::operation(q.dequeue()), pn::operation(never.dequeue()));
  auto rest = q.dequeue_many(4);
  b.run(put);
  pn::session late({.graph = &b.g, .operation_timeout = std::chrono::milliseconds(50)});
  late.run(put);
  CHECK(refusal([&] { late.run(two); }, errc::deadline_exceeded) == "");
  CHECK(list(late.run(rest)) == std::vector{1, 2, 3, 4});

  auto waiting = b.later(one);
  b.until_size(q.size(), 3);
  b.on().cancel_steps(pn::error(errc::cancelled, "enough"));
  CHECK(refusal([&] { waiting.get(); }, errc::cancelled, "enough") == "");
  CHECK(list(b.run(rest)) == std::vector{1, 2, 3, 4});
}

TEST_CASE("a step that fails by what it has dequeued does not get it again") {
  bench b;
  auto q = pn::fifo_queue<int>({.shapes = {{}}});
  auto put = q.enqueue_many(pn::constant<int>({7, 0}));
  auto use = pn::gather(pn::constant<int>({5}), q.dequeue());
  b.run(put);
  CHECK(refusal([&] { b.run(use); }, errc::invalid_argument) == "");
  CHECK(b.run(use) == 5);
}

TEST_CASE("closing a session wakes those who wait at a queue") {
  bench b;
  auto q = pn::fifo_queue<int>({.capacity = 1});
  auto get = q.dequeue();
  auto waiting = b.later(get);
  auto size = q.size();
  b.run(size);
  b.on().close();
  const auto end = caught([&] { waiting.get(); }).code();
  CHECK((end == errc::cancelled || end == errc::failed_precondition));  // the latter if it came too late
}

TEST_CASE("close waits behind pending enqueues; what comes after it fails") {
  bench b;
  auto q = pn::fifo_queue<int>({.capacity = 1, .name = "n"});
  auto put = q.enqueue(7), put_two = q.enqueue_many(pn::constant<int>({7, 8}));
  auto get = q.dequeue();
  auto shut = q.close(), again = q.close();
  auto closed = q.is_closed();
  auto size = q.size();
  auto putting = b.later(put_two);
  b.until_size(size, 1);  // of the two the second waits
  auto closing = b.later(shut);
  CHECK(!b.run(closed));
  CHECK(b.run(get) == 7);
  putting.get();
  closing.get();
  CHECK(b.run(closed));
  CHECK(b.run(get) == 8);
  CHECK(refusal([&] { b.run(put); }, errc::cancelled, "FIFOQueue 'n' is closed.") == "");
  CHECK(refusal([&] { b.run(again); }, errc::cancelled, "FIFOQueue 'n' is already closed.") == "");
}

TEST_CASE("a closed queue yields what is left, and says how much that is to one who wants more") {
  bench b;
  auto q = pn::fifo_queue<int>({.shapes = {{}}, .name = "n"});
  auto put = q.enqueue_many(pn::constant<int>({1, 2, 3}));
  auto shut = q.close();
  b.run(put);
  b.run(shut);
  CHECK(refusal([&] { b.run(q.dequeue_many(5)); }, errc::out_of_range,
                "FIFOQueue 'n' is closed and has insufficient elements (requested 5, current size 3)") == "");
  CHECK(list(b.run(q.dequeue_up_to(2))) == std::vector{1, 2});
  CHECK(list(b.run(q.dequeue_up_to(5))) == std::vector{3});
  CHECK(refusal([&] { b.run(q.dequeue_up_to(5)); }, errc::out_of_range, "(requested 5, current size 0)") == "");
  CHECK(refusal([&] { b.run(q.dequeue()); }, errc::out_of_range, "(requested 1, current size 0)") == "");
  CHECK(b.run(q.dequeue_many(0)).shape() == pn::shape{0});
}

TEST_CASE("a cancelling close fails those who wait to put, and can be repeated") {
  bench b;
  auto q = pn::fifo_queue<int>({.capacity = 1});
  auto put = q.enqueue(1);
  auto cancel = q.close({.cancel_pending_enqueues = true});
  auto get = q.dequeue();
  b.run(put);
  auto waiting = b.later(put);
  b.run(cancel);
  CHECK(refusal([&] { waiting.get(); }, errc::cancelled) == "");
  b.run(cancel);
  CHECK(b.run(get) == 1);
}

TEST_CASE("a closed queue refuses a row, and takes no rows at once") {
  bench b;
  auto q = pn::fifo_queue<int>({.shapes = {{}}});
  auto size = q.size();
  b.run(q.close());
  CHECK(refusal([&] { b.run(q.enqueue_many(pn::constant<int>({1}))); }, errc::cancelled, "is closed") == "");
  CHECK_NOTHROW(b.run(q.enqueue_many(pn::constant(pn::tensor<int>{pn::shape{0}}))));
  CHECK(b.run(size) == 0);
}

TEST_CASE("a shuffle queue yields every element once, in an order of its seed") {
  const auto draw = [](std::int64_t seed) {
    bench b;
    auto q = pn::random_shuffle_queue<int>({.capacity = 100, .min_after_dequeue = 0, .shapes = {{}}, .seed = seed});
    b.run(q.enqueue_many(pn::range(50)));
    return list(b.run(q.dequeue_many(50)));
  };
  const auto first = draw(3);
  CHECK(std::set<int>(first.begin(), first.end()).size() == 50);
  CHECK(!std::is_sorted(first.begin(), first.end()));
  CHECK(draw(3) == first);
  CHECK(draw(4) != first);
}

TEST_CASE("an open shuffle queue keeps min_after_dequeue elements; a closed one gives them up") {
  bench b;
  auto q = pn::random_shuffle_queue<int>({.capacity = 10, .min_after_dequeue = 3, .shapes = {{}}});
  auto put = q.enqueue_many(pn::constant<int>({1, 2, 3, 4}));
  auto get = q.dequeue();
  auto shut = q.close();
  auto size = q.size();
  b.run(put);
  b.run(get);
  CHECK(b.run(size) == 3);
  auto waiting = b.later(get);
  b.run(shut);
  waiting.get();
  CHECK(b.run(q.dequeue_up_to(10)).shape() == pn::shape{2});
}

TEST_CASE("a padding queue fills batches up with zeros to the largest of them") {
  bench b;
  auto q = pn::padding_fifo_queue<int>({.capacity = 10, .shapes = {{pn::unknown}}});
  auto X = pn::placeholder<int>({pn::unknown}, "X");
  auto put = q.enqueue(X);
  for (const auto& row : {pn::tensor<int>::of({1}), pn::tensor<int>::of({2, 3, 4}), pn::tensor<int>::of({5, 6})})
    b.on().run({{X, row}}, put);
  auto pair = q.dequeue_many(2);
  CHECK(b.run(pair) == pn::tensor<int>::of({{1, 0, 0}, {2, 3, 4}}));
  CHECK(b.run(q.dequeue_many(1)) == pn::tensor<int>::of({{5, 6}}));
}

TEST_CASE("a priority queue yields the smallest first, of equals the older") {
  bench b;
  auto q = pn::priority_queue<std::string>({.capacity = 10, .shapes = {{}}});
  for (const auto& [priority, text] :
       std::vector<std::pair<std::int64_t, std::string>>{{5, "e"}, {1, "a"}, {5, "f"}, {-2, "z"}})
    b.run(q.enqueue(priority, text));
  auto [p, s] = q.dequeue_many(4);
  const auto [priorities, texts] = b.run(p, s);
  CHECK(priorities == pn::tensor<std::int64_t>::of({-2, 1, 5, 5}));
  CHECK(texts == pn::tensor<std::string>::of({"z", "a", "e", "f"}));
}

TEST_CASE("what does not fit a queue is refused with the component") {
  bench b;
  auto q = pn::fifo_queue<int, float>({.capacity = 4, .shapes = {{}, {2}}, .name = "pair"});
  CHECK(refusal(
            [&] {
              q.enqueue(1, pn::constant<float>({1, 2, 3}));
            },
            errc::invalid_argument, "component 1", "[2]") == "");
  auto X = pn::placeholder<float>(pn::shape::any(), "X");
  auto put = q.enqueue(1, X);
  CHECK(refusal(
            [&] {
              b.on().run({{X, pn::tensor<float>{pn::shape{3}}}}, put);
            },
            errc::invalid_argument, "component 1", "'pair'") == "");
  auto many = q.enqueue_many(pn::constant<int>({1, 2}), X);
  CHECK(refusal(
            [&] {
              b.on().run({{X, pn::tensor<float>{pn::shape{3, 2}}}}, many);
            },
            errc::invalid_argument, "2 of component 0 and 3 of component 1") == "");
  CHECK(refusal([&] { (void)pn::fifo_queue<int, float>({.shapes = {{}}}); }, errc::invalid_argument, "2 components",
                "1 shape") == "");
  auto loose = pn::fifo_queue<int>({});
  auto S = pn::placeholder<int>(pn::shape::any(), "S");
  auto one_by_one = loose.enqueue_many(S);
  CHECK(refusal([&] { b.on().run({{S, 3}}, one_by_one); }, errc::invalid_argument, "component 0", "a scalar") == "");
  CHECK(refusal([&] { loose.dequeue_many(2); }, errc::invalid_argument, "known shapes") == "");
  CHECK(refusal([&] { (void)pn::random_shuffle_queue<int>({.capacity = 3, .min_after_dequeue = 3}); },
                errc::invalid_argument, "below the capacity") == "");
}

TEST_CASE("two queues that share a name are one, and must agree") {
  bench b;
  auto a = pn::fifo_queue<int>({.capacity = 4, .name = "a", .shared_name = "both"});
  auto c = pn::fifo_queue<int>({.capacity = 4, .name = "c", .shared_name = "both"});
  auto other = pn::fifo_queue<float>({.capacity = 4, .name = "d", .shared_name = "both"});
  b.run(a.enqueue(5));
  CHECK(b.run(c.dequeue()) == 5);
  CHECK(refusal([&] { b.run(other.size()); }, errc::invalid_argument, "share the name 'both'") == "");
  auto ready = pn::random_shuffle_queue<int>({.capacity = 4, .min_after_dequeue = 1, .shared_name = "shuffled"});
  auto later = pn::random_shuffle_queue<int>({.capacity = 4, .min_after_dequeue = 2, .shared_name = "shuffled"});
  b.run(ready.enqueue(1));
  CHECK(refusal([&] { b.run(later.size()); }, errc::invalid_argument, "min_after_dequeue is 2 here, 1 in") == "");
}

TEST_CASE("many threads put and take, and no element is lost or seen twice") {
  bench b;
  auto q = pn::random_shuffle_queue<int>({.capacity = 7, .min_after_dequeue = 2, .shapes = {{}}});
  auto X = pn::placeholder<int>({}, "X");
  auto put = q.enqueue(X);
  auto get = q.dequeue_up_to(3);
  auto shut = q.close();
  b.on();
  std::vector<std::thread> makers;
  constexpr int each = 200, threads = 3;
  for (int t = 0; t < threads; ++t)
    makers.emplace_back([&, t] {
      for (int i = 0; i < each; ++i) b.sess->run({{X, t * each + i}}, put);
    });
  std::multiset<int> seen;
  std::mutex mutex;
  std::vector<std::thread> takers;
  for (int t = 0; t < threads; ++t)
    takers.emplace_back([&] {
      try {
        for (;;) {
          const auto batch = b.sess->run(get);
          std::lock_guard hold(mutex);
          seen.insert(batch.span().begin(), batch.span().end());
        }
      } catch (const pn::error& e) {
        if (e.code() != errc::out_of_range) throw;
      }
    });
  for (auto& t : makers) t.join();
  b.run(shut);
  for (auto& t : takers) t.join();
  CHECK(seen.size() == each * threads);
  CHECK(std::set<int>(seen.begin(), seen.end()).size() == each * threads);
}

TEST_CASE("a queue is used in the bodies of a loop") {
  bench b;
  auto q = pn::fifo_queue<int>({.capacity = 10, .shapes = {{}}});
  b.run(q.enqueue_many(pn::constant<int>({1, 2, 3, 4})));
  auto [n, sum] = pn::while_loop([](auto i, auto) { return i < 4; },
                                 [&](auto i, auto s) {
                                   return std::tuple{i + 1, s + q.dequeue()};
                                 },
                                 0, 0);
  CHECK(b.run(sum) == 10);
}
