// Traces of steps that fail, over sockets and in processes of their own.
#include <distributed/real_cluster.hpp>

#include <catch2/catch.hpp>

#include <optional>

#include <support/caught.hpp>

namespace {

using namespace real;

// How the node, or the one of that op, ended on a task; nothing: there is no event of it.
std::optional<trace_event::ended_t> end_of(const step_trace& t, const std::string& node, const std::string& task) {
  for (const trace_event& e : t.events)
    if ((e.node == node || e.op == node) && e.kind == trace_event::compute && task_of_device(e.device) == task)
      return e.ended;
  return std::nullopt;
}

TEST_CASE("a step that fails on another task brings back its trace to a client elsewhere") {
  auto& cluster = two_and_two::of(GENERATE(tasks_in::same_process, tasks_in::own_processes));
  fresh f;
  auto x = placeholder<float>(shape::any(), "x");
  const auto doubled = place<"/job:ps/task:0">(pinion::identity(x, "doubled"));
  const device on{"/job:worker/task:1"};
  auto y = matmul(doubled, doubled, {.name = "y"});
  session sess{toward(cluster.target("worker", 0))};
  step_trace t;
  const auto e = caught([&] { sess.run(t, {{x, tensor<float>({2, 3})}}, y); });
  CHECK(e.code() == errc::invalid_argument);
  CHECK(t.failure == e.what());
  CHECK(end_of(t, "doubled", name_of("ps", 0)) == trace_event::well);
  CHECK(end_of(t, "y", name_of("worker", 1)) == trace_event::failed);
  CHECK(sess.run(t, {{x, tensor<float>({2, 2})}}, y) == tensor<float>({2, 2}));
  CHECK(t.failure == "");
  CHECK(end_of(t, "y", name_of("worker", 1)) == trace_event::well);
}

TEST_CASE("a step that is cancelled, or whose peer is killed, brings back its trace to a client elsewhere") {
  const auto spec = free_addresses({{"ps", 1}, {"worker", 2}});
  std::optional<task_process> ps(std::in_place, spec, "ps", 0);
  const task_process worker(spec, "worker", 0), other(spec, "worker", 1);
  const bool is_killed = GENERATE(false, true);
  fresh f;
  variable_handle<int> begun = place<"/job:worker/task:1">(variable(0, {.name = "begun"}));
  expr<int> never = [&] {
    const device on{"/job:worker/task:1"};
    fifo_queue<int> queue{{.capacity = 1, .shapes = {{}}}};
    const control_dependencies after{operation(assign_add(begun, 1))};
    return queue.dequeue();
  }();
  const auto sum = place<"/job:ps/task:0">(pinion::identity(never, "sum"));
  session sess{toward(worker.target())}, others{toward(worker.target())};
  sess.run(begun.initializer());
  CHECK(int(others.run(begun)) == 0);
  step_trace t;
  error failed{errc::internal, "nothing was thrown"};
  std::thread runner([&] { failed = caught([&] { sess.run(t, sum); }); });
  CHECK(soon([&] { return int(others.run(begun)) == 1; }));
  if (is_killed)
    ps.reset();
  else
    sess.cancel_steps(error(errc::cancelled, "that is enough"));
  runner.join();
  CHECK(failed.code() == (is_killed ? errc::unavailable : errc::cancelled));
  CHECK(t.failure == failed.what());
  CHECK(end_of(t, "AssignAdd", name_of("worker", 1)) == trace_event::well);
}

}  // namespace
