// Steps that are fed and fetched in several calls, on clusters: the ends of a run are at the task that the session
// targets, and its nodes wherever they were placed. What holds on every session is tested in
// runtime/partial_run_test.cpp.
#include <distributed/real_cluster.hpp>

#include <catch2/catch.hpp>

#include <optional>

#include <pinion/runtime/partial_run.hpp>

#include <support/caught.hpp>

namespace {

using namespace real;
using Catch::Contains;

// r1 = a + b on a ps, and r2 = r1 * c on a worker; a counter on the ps of how often r1 was needed.
struct sums : fresh {
  expr<float> a = placeholder<float>(shape::any(), "a"), b = placeholder<float>(shape::any(), "b"),
              c = placeholder<float>({}, "c");
  variable_handle<int> count = place<"/job:ps/task:0">(variable(0, {.name = "count"}));
  expr<int> up = place<"/job:ps/task:0">(assign_add(count, 1));
  expr<float> r1, r2;

  sums() {
    {
      const device on{"/job:ps/task:0"};
      const control_dependencies first{up};
      r1 = pinion::identity(a + b, "r1");
    }
    const device on{"/job:worker/task:1"};
    r2 = pinion::identity(r1 * c, "r2");
  }
};

struct summing : sums {
  session sess;
  explicit summing(const std::string& target, std::chrono::milliseconds limit = 60s)
      : sess{{.target = target, .operation_timeout = limit}} {
    sess.run(count.initializer());
  }
  partial_run step() { return {sess, feeds(a, b, c), fetches(r1, r2)}; }
};

// The steps that a task runs now for clients.
std::size_t running(const std::string& target) {
  std::size_t n = 0;
  for (const session_report& s : inspect(target).sessions) n += s.steps.running;
  return n;
}

TEST_CASE("calls feed and fetch a step whose nodes are on several tasks, and no node runs twice") {
  auto& cluster = two_and_two::of(GENERATE(tasks_in::same_process, tasks_in::own_processes));
  summing s(cluster.target("worker", 0));
  auto one = s.step(), two = s.step();
  const float first = one.run({{s.a, 1.f}, {s.b, 2.f}}, s.r1);
  CHECK(first == 3);
  two.run({{s.c, 2.f}});
  CHECK(float(s.sess.run({{s.a, 5.f}, {s.b, 5.f}, {s.c, 2.f}}, s.r2)) == 20);
  CHECK(float(one.run({{s.c, first * 17}}, s.r2)) == 153);
  const auto [sum, product] = two.run({{s.a, 10.f}, {s.b, 20.f}}, s.r1, s.r2);
  CHECK(float(sum) == 30);
  CHECK(float(product) == 60);
  CHECK(int(s.sess.run(s.count)) == 3);
}

TEST_CASE("a value that a call fetches may come long after all nodes have run") {
  auto& cluster = two_and_two::of(GENERATE(tasks_in::same_process, tasks_in::own_processes));
  summing s(cluster.target("worker", 0));
  auto step = s.step();
  CHECK(float(step.run({{s.a, 1.f}, {s.b, 2.f}, {s.c, 3.f}}, s.r2)) == 9);
  CHECK(soon([&] { return running(cluster.target("worker", 0)) == 0; }));
  CHECK(float(step.run(s.r1)) == 3);
}

TEST_CASE("a call waits for its operations, which run on other tasks") {
  auto& cluster = two_and_two::of(GENERATE(tasks_in::same_process, tasks_in::own_processes));
  summing s(cluster.target("worker", 0));
  const auto v = place<"/job:ps/task:1">(variable(0.f, {.name = "v"}));
  const operation put = place<"/job:ps/task:1">(assign(v, s.r2)), up(s.up);
  s.sess.run(v.initializer());
  partial_run step(s.sess, feeds(s.a, s.b, s.c), fetches(s.r1), targets(put, up));
  step.run({{s.a, 1.f}, {s.b, 2.f}}, s.r1, up);
  CHECK(int(s.sess.run(s.count)) == 1);
  step.run({{s.c, 5.f}}, put);
  CHECK(float(s.sess.run(v)) == 15);
}

TEST_CASE("values of many bytes go in calls") {
  auto& cluster = two_and_two::of(GENERATE(tasks_in::same_process, tasks_in::own_processes));
  summing s(cluster.target("worker", 0));
  tensor<float> large({1 << 20});
  for (std::int64_t i = 0; i < large.size(); ++i) large(i) = float(i % 1000);
  auto step = s.step();
  const auto sum = step.run({{s.a, large}, {s.b, large}}, s.r1);
  const auto product = step.run({{s.c, 3.f}}, s.r2);
  CHECK(std::equal(sum.span().begin(), sum.span().end(), large.span().begin(),
                   [](float x, float y) { return x == 2 * y; }));
  CHECK(std::equal(product.span().begin(), product.span().end(), large.span().begin(),
                   [](float x, float y) { return x == 6 * y; }));
}

TEST_CASE("a failure on another task fails the run and every later call, and the session goes on") {
  auto& cluster = two_and_two::of(GENERATE(tasks_in::same_process, tasks_in::own_processes));
  summing s(cluster.target("worker", 0));
  auto step = s.step();
  const auto e = caught([&] { step.run({{s.a, tensor<float>({2})}, {s.b, tensor<float>({3})}}, s.r1); });
  CHECK(e.code() == errc::invalid_argument);
  CHECK_THAT(e.what(), Contains("/job:ps/replica:0/task:0"));
  CHECK(caught([&] { step.run({{s.c, 1.f}}, s.r2); }).what() == std::string(e.what()));
  CHECK(float(s.sess.run({{s.a, 5.f}, {s.b, 5.f}, {s.c, 2.f}}, s.r2)) == 20);
}

TEST_CASE("a partial run that is given up, cancelled or too late leaves no run behind") {
  auto& cluster = two_and_two::of(GENERATE(tasks_in::same_process, tasks_in::own_processes));
  const std::string target = cluster.target("worker", 0);
  summing s(target);
  const auto queue = [] {
    const device on{"/job:worker/task:1"};
    return fifo_queue<float>{{.capacity = 1, .shapes = {{}}}};
  }();
  const auto never = place<"/job:worker/task:1">(pinion::identity(queue.dequeue(), "never"));
  {
    auto given_up = s.step();
    CHECK(float(given_up.run({{s.a, 1.f}, {s.b, 2.f}}, s.r1)) == 3);
    CHECK(running(target) == 1);
  }
  CHECK(soon([&] { return running(target) == 0; }));

  auto cancelled = s.step();
  cancelled.run({{s.a, 1.f}});
  s.sess.cancel_steps(error(errc::cancelled, "that is enough"));
  CHECK(soon([&] { return running(target) == 0; }));
  CHECK(refusal([&] { cancelled.run({{s.b, 1.f}}, s.r1); }, errc::cancelled, "that is enough") == "");

  session hasty{{.target = target, .operation_timeout = 300ms}};
  partial_run late(hasty, feeds(s.a), fetches(never));
  CHECK(refusal([&] { late.run(never); }, errc::deadline_exceeded,
                "a call of a partial run did not end within the session's operation_timeout") == "");
  CHECK(soon([&] { return running(target) == 0; }));
}

TEST_CASE("a partial run whose session is closed goes on no more, and may outlive it") {
  auto& cluster = two_and_two::of(GENERATE(tasks_in::same_process, tasks_in::own_processes));
  const std::string target = cluster.target("worker", 0);
  std::optional<summing> s(std::in_place, target);
  auto step = s->step();
  step.run({{s->a, 1.f}});
  s->sess.close();
  CHECK(refusal([&] { step.run({{s->b, 1.f}}, s->r1); }, errc::failed_precondition, "closed") == "");
  CHECK(soon([&] { return running(target) == 0; }));
  s.reset();
}

TEST_CASE("a task that dies between two calls fails the run, and its name is told") {
  const auto spec = free_addresses({{"ps", 1}, {"worker", 2}});
  std::optional<task_process> ps(std::in_place, spec, "ps", 0);
  const task_process worker(spec, "worker", 0), other(spec, "worker", 1);
  summing s(worker.target());
  auto step = s.step();
  step.run({{s.a, 1.f}});
  ps.reset();
  CHECK(refusal([&] { step.run({{s.b, 1.f}}, s.r1); }, errc::unavailable, "/job:ps/replica:0/task:0") == "");
}

}  // namespace
