// Queues on a cluster: they live in the task that holds them, and whoever waits there is waited for elsewhere.
#include <catch2/catch.hpp>

#include <future>

#include <pinion/distributed.hpp>

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
