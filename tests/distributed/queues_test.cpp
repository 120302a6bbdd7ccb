// Queues on a cluster: they live in the task that holds them, and whoever waits there is waited for elsewhere.
#include <catch2/catch.hpp>

#include <future>

#include <pinion/distributed.hpp>

#include "distributed/real_cluster.hpp"
#include "support/caught.hpp"
#include "support/own_graph.hpp"

namespace {
namespace pn = pinion;
using namespace std::chrono_literals;

// A program of one worker: a queue on the ps, under one name for all.
struct program : own_graph {
  pn::fifo_queue<float> q = [] {
    pn::device on{"/job:ps/task:0"};
    return pn::fifo_queue<float>({.capacity = 2, .shapes = {{2}}, .name = "shared"});
  }();
  pn::expr<float> x = pn::placeholder<float>({2}, "x");
  pn::operation put = q.enqueue(x), put_many = q.enqueue_many(pn::constant<float>({{1, 2}, {3, 4}})), shut = q.close();
  pn::expr<float> get = q.dequeue(), pair = q.dequeue_many(2);
  pn::expr<int> size = q.size();
};

}  // namespace

TEST_CASE("one worker puts what another takes from a queue on a ps") {
  auto local = pn::local_cluster{{{"ps", 1}, {"worker", 2}}};
  program a, b;
  pn::session first{{.target = local.target("worker", 0), .graph = &a.g}};
  pn::session second{{.target = local.target("worker", 1), .graph = &b.g}};
  CHECK(first.plan(a.put).device_of("shared") == "/job:ps/replica:0/task:0/device:CPU:0");
  CHECK(first.plan(a.put).device_of("shared_enqueue") == "/job:ps/replica:0/task:0/device:CPU:0");
  auto waiting = std::async(std::launch::async, [&] { return second.run(b.pair); });
  first.run({{a.x, pn::tensor<float>::of({1, 2})}}, a.put);
  first.run({{a.x, pn::tensor<float>::of({3, 4})}}, a.put);
  CHECK(waiting.get() == pn::tensor<float>::of({{1, 2}, {3, 4}}));
  first.run(a.put_many);
  CHECK(int(second.run(b.size)) == 2);
  CHECK(second.run(b.get) == pn::tensor<float>::of({1, 2}));
  first.run(a.shut);
  CHECK(second.run(b.get) == pn::tensor<float>::of({3, 4}));
  const auto end = caught([&] { second.run(b.get); });
  CHECK(end.code() == pn::errc::out_of_range);
  CHECK(end.task() == "/job:ps/replica:0/task:0");
}

TEST_CASE("a step that waits at a remote queue ends at its deadline, and gives its elements back") {
  auto local = pn::local_cluster{{{"ps", 1}, {"worker", 2}}};
  program a, b;
  pn::session patient{{.target = local.target("worker", 0), .graph = &a.g}};
  pn::session hasty{{.target = local.target("worker", 1), .graph = &b.g, .operation_timeout = 100ms}};
  patient.run({{a.x, pn::tensor<float>::of({5, 6})}}, a.put);
  CHECK(refusal([&] { hasty.run(b.pair); }, pn::errc::deadline_exceeded) == "");
  CHECK(patient.run(a.get) == pn::tensor<float>::of({5, 6}));
}

namespace {

// A step whose part on the ps has ended once it has sent what it dequeued, while its part on a worker waits at a queue.
struct half_way : program {
  pn::fifo_queue<float> empty = [] {
    pn::device on{"/job:worker/task:1"};
    return pn::fifo_queue<float>({.capacity = 2, .shapes = {{2}}, .name = "empty"});
  }();
  pn::operation fill = empty.enqueue(x);
  pn::expr<float> sum = [this] {
    pn::device on{"/job:worker/task:1"};
    return get + empty.dequeue();
  }();

  // Puts an element, and waits until a step has taken it, and its part on the ps has ended.
  template <class Step>
  void take(pn::session& sess, const Step& step, const std::string& at) {
    sess.run({{x, pn::tensor<float>::of({5, 6})}}, put);
    taken = std::async(std::launch::async, step);
    REQUIRE(real::soon([&] { return int(sess.run(size)) == 0; }));
    REQUIRE(real::soon([&] { return pn::inspect(at).parts.running == 0; }));
  }
  bool comes_back(pn::session& sess) {
    return real::soon([&] { return int(sess.run(size)) == 1; }) && sess.run(get) == pn::tensor<float>::of({5, 6});
  }
  std::future<pn::tensor<float>> taken;
};

}  // namespace

TEST_CASE("a part that has ended gives back what it has taken, where its step is given up") {
  auto local = pn::local_cluster{{{"ps", 1}, {"worker", 2}}};
  half_way m;
  pn::session sess{{.target = local.target("worker", 0), .graph = &m.g}};
  const auto step = [&] { return sess.run(m.sum); };

  m.take(sess, step, local.target("ps", 0));
  sess.cancel_steps(pn::error(pn::errc::cancelled, "enough"));
  CHECK(refusal([&] { m.taken.get(); }, pn::errc::cancelled) == "");
  CHECK(m.comes_back(sess));

  pn::session hasty{{.target = local.target("worker", 0), .graph = &m.g, .operation_timeout = 300ms}};
  m.take(
      sess, [&] { return hasty.run(m.sum); }, local.target("ps", 0));
  CHECK(refusal([&] { m.taken.get(); }, pn::errc::deadline_exceeded) == "");
  CHECK(m.comes_back(sess));

  m.take(sess, step, local.target("ps", 0));
  local.server("worker", 1).stop();
  CHECK(refusal([&] { m.taken.get(); }, pn::errc::unavailable) == "");
  CHECK(m.comes_back(sess));
}

TEST_CASE("a part that has ended gives back what it has taken, where its master is lost") {
  auto local = pn::local_cluster{{{"ps", 1}, {"worker", 3}}};
  half_way m;
  pn::session sess{{.target = local.target("worker", 2), .graph = &m.g}};
  pn::session other{{.target = local.target("worker", 0), .graph = &m.g}};
  m.take(
      sess, [&] { return other.run(m.sum); }, local.target("ps", 0));
  local.server("worker", 0).stop();
  CHECK_THROWS_AS(m.taken.get(), pn::error);
  CHECK(m.comes_back(sess));
}

TEST_CASE("what a step that has ended well has taken does not come back, whatever its session does then") {
  auto local = pn::local_cluster{{{"ps", 1}, {"worker", 2}}};
  half_way m;
  const auto unsettled = [&] { return pn::inspect(local.target("ps", 0)).backlog.parts_unsettled; };
  pn::session sess{{.target = local.target("worker", 0), .graph = &m.g}};
  {
    pn::session once{{.target = local.target("worker", 0), .graph = &m.g}};
    m.take(
        sess, [&] { return once.run(m.sum); }, local.target("ps", 0));
    CHECK(unsettled() == 1);
    sess.run({{m.x, pn::tensor<float>::of({1, 1})}}, m.fill);
    CHECK(m.taken.get() == pn::tensor<float>::of({6, 7}));
    CHECK(real::soon([&] { return unsettled() == 0; }));
    once.cancel_steps(pn::error(pn::errc::cancelled, "too late"));
  }
  CHECK(int(sess.run(m.size)) == 0);
  sess.run({{m.x, pn::tensor<float>::of({7, 8})}}, m.put);
  CHECK(sess.run(m.get) == pn::tensor<float>::of({7, 8}));
}

TEST_CASE("what a step has taken does not come back where its session is closed at once") {
  auto local = pn::local_cluster{{{"ps", 1}, {"worker", 1}}};
  program m;
  const pn::expr<float> twice = [&] {
    pn::device on{"/job:worker/task:0"};
    return m.get * 2.f;
  }();
  pn::session sess{{.target = local.target("worker", 0), .graph = &m.g, .operation_timeout = 20s}};
  for (int i = 0; i < 200; ++i) {
    sess.run({{m.x, pn::tensor<float>::of({5, 6})}}, m.put);
    pn::session once{{.target = local.target("worker", 0), .graph = &m.g}};
    once.run(twice);
  }
  CHECK(real::soon([&] { return pn::inspect(local.target("ps", 0)).backlog.parts_unsettled == 0; }));
  CHECK(int(sess.run(m.size)) == 0);
}

TEST_CASE("what the body of a cond has taken goes back where its step is given up, and not an iteration of a loop") {
  auto local = pn::local_cluster{{{"ps", 1}, {"worker", 2}}};
  half_way m;
  const bool loops = GENERATE(true, false);
  pn::expr<float> sum = [&] {
    pn::device on{"/job:ps/task:0"};
    const pn::expr<float> none = pn::zeros<float>({2});
    pn::expr<float> got = pn::cond(
        pn::constant(true), [&] { return m.q.dequeue(); }, [&] { return none; });
    if (loops) {
      auto [iterations, last] = pn::while_loop([](auto k, auto) { return k < 1; },
                                               [&](auto k, auto) { return std::tuple(k + 1, m.q.dequeue()); }, 0, none);
      got = last;
    }
    const pn::device there{"/job:worker/task:1"};
    return got + m.empty.dequeue();
  }();
  pn::session sess{{.target = local.target("worker", 0), .graph = &m.g}};
  m.take(
      sess, [&] { return sess.run(sum); }, local.target("ps", 0));
  sess.cancel_steps(pn::error(pn::errc::cancelled, "enough"));
  CHECK(refusal([&] { m.taken.get(); }, pn::errc::cancelled) == "");
  if (loops)
    CHECK(int(sess.run(m.size)) == 0);
  else
    CHECK(m.comes_back(sess));
}
