// Tasks that die, stop, come late or come again: an error that names them, in time.
#include <distributed/real_cluster.hpp>

#include <catch2/catch.hpp>

#include <support/caught.hpp>
#include <support/waiting_step.hpp>

namespace {

using namespace real;

// Short, but not so short that a busy machine looks dead.
const task_options lively{.heartbeat = 500ms, .key = "-", .grace = 200ms};
// Two heartbeats, and what a busy machine takes besides.
constexpr auto in_time = 5s;

// A worker and a ps of their own; the step works on the ps for seconds.
struct pair_of_tasks {
  fresh f;
  cluster_spec spec = free_addresses({{"ps", 1}, {"worker", 1}});
  task_process worker{spec, "worker", 0, lively};
  std::optional<task_process> ps{std::in_place, spec, "ps", 0, lively};
  variable_handle<int> begun = place<"/job:worker/task:0">(variable(0, {.name = "begun"}));
  variable_handle<int> kept = place<"/job:ps/task:0">(variable(5, {.name = "kept"}));
  operation work = group(assign_add(begun, 1), long_work("/job:ps/task:0"));
  session sess{toward(worker.target())}, watcher{toward(worker.target())};

  pair_of_tasks() { sess.run(begun.initializer(), kept.initializer()); }

  // How the step ends when something is done to the ps, and how long after that.
  template <class F>
  std::pair<error, std::chrono::milliseconds> when(F happens) {
    error e(errc::internal, "");
    std::thread runner([&] { e = caught([&] { sess.run(work); }); });
    const bool running = soon([&] { return int(watcher.run(begun)) == 1; });
    const stopwatch since;
    happens();
    runner.join();
    return {running ? e : error(errc::internal, "the step never began"), since.passed()};
  }
};

TEST_CASE("a ps that is killed in the middle of a step fails it as unavailable, with its name, in time") {
  pair_of_tasks tasks;
  const auto [e, passed] = tasks.when([&] { tasks.ps->signal(SIGKILL); });
  CHECK(e.code() == errc::unavailable);
  CHECK(e.task() == name_of("ps", 0));
  CHECK(passed < in_time);
}

TEST_CASE("a ps that is stopped in the middle of a step fails it as unavailable, with its name, in time") {
  pair_of_tasks tasks;
  const auto [e, passed] = tasks.when([&] { tasks.ps->signal(SIGSTOP); });
  CHECK(e.code() == errc::unavailable);
  CHECK(e.task() == name_of("ps", 0));
  CHECK((passed >= 500ms && passed < in_time));
}

TEST_CASE("a ps that ends by SIGTERM in the middle of a long step fails it as unavailable, with its name, in time") {
  pair_of_tasks tasks;
  const auto [e, passed] = tasks.when([&] { tasks.ps->signal(SIGTERM); });
  CHECK(e.code() == errc::unavailable);
  CHECK(e.task() == name_of("ps", 0));
  CHECK(passed < in_time);
  CHECK(tasks.ps->result() == 0);
}

TEST_CASE("R7: steps that a client cancels end where they wait, and its session goes on") {
  fresh f;
  const cluster_spec spec = free_addresses({{"worker", 1}});
  const task_process worker{spec, "worker", 0, lively};
  waiting_step step;
  session sess{toward(worker.target())}, watcher{toward(worker.target())};
  const auto e = step.cancelled(sess, watcher, error(errc::cancelled, "that is enough"));
  CHECK(e.code() == errc::cancelled);
  CHECK_THAT(e.what(), Catch::Contains("that is enough"));
  sess.run(step.put);
  CHECK(int(sess.run(step.size)) == 1);
}

TEST_CASE("a target that is killed in the middle of a step fails it as unavailable, with its name, in time") {
  pair_of_tasks tasks;
  const auto [e, passed] = tasks.when([&] { tasks.worker.signal(SIGKILL); });
  CHECK(e.code() == errc::unavailable);
  CHECK_THAT(e.what(), Catch::Contains(name_of("worker", 0)));
  CHECK(passed < in_time);
}

TEST_CASE("a target that is stopped in the middle of a step fails it as unavailable, with its name, in time") {
  pair_of_tasks tasks;
  const auto [e, passed] = tasks.when([&] { tasks.worker.signal(SIGSTOP); });
  CHECK(e.code() == errc::unavailable);
  CHECK_THAT(e.what(), Catch::Contains(name_of("worker", 0)));
  CHECK(passed < in_time);
}

TEST_CASE("a ps that died between two steps fails the next as unavailable, with its name, and steps without it go on") {
  pair_of_tasks tasks;
  tasks.sess.run(tasks.kept);
  tasks.ps.reset();
  const stopwatch since;
  const auto e = caught([&] { tasks.sess.run(tasks.kept); });
  CHECK(e.code() == errc::unavailable);
  CHECK(e.task() == name_of("ps", 0));
  CHECK(since.passed() < in_time);
  CHECK(int(tasks.sess.run(tasks.begun)) == 0);
}

TEST_CASE("a ps that was stopped between two steps and goes on in time is not dead") {
  pair_of_tasks tasks;
  tasks.ps->signal(SIGSTOP);
  tasks.ps->signal(SIGCONT);
  CHECK(int(tasks.sess.run(tasks.kept)) == 5);
}

TEST_CASE("a restarted ps is aborted for the session that knew it, and new to the next") {
  pair_of_tasks tasks;
  CHECK(int(tasks.sess.run(tasks.kept)) == 5);
  tasks.ps.reset();
  tasks.ps.emplace(tasks.spec, "ps", 0, lively);
  const auto e = caught([&] { tasks.sess.run(tasks.kept); });
  INFO(e.what());
  CHECK(e.code() == errc::aborted);
  CHECK(e.task() == name_of("ps", 0));
  session next{toward(tasks.worker.target())};
  CHECK(caught([&] { next.run(tasks.kept); }).code() == errc::failed_precondition);
  next.run(tasks.kept.initializer());
  CHECK(int(next.run(tasks.kept)) == 5);
}

TEST_CASE("a restarted target is aborted or unavailable for the session that knew it") {
  pair_of_tasks tasks;
  CHECK(int(tasks.sess.run(tasks.kept)) == 5);
  tasks.worker.signal(SIGTERM);
  CHECK(tasks.worker.result() == 0);
  const task_process again(tasks.spec, "worker", 0, lively);
  const auto e = caught([&] { tasks.sess.run(tasks.kept); });
  CHECK((e.code() == errc::aborted || e.code() == errc::unavailable));
  session next{toward(again.target())};
  CHECK(int(next.run(tasks.kept)) == 5);
}

// ---- coming late

TEST_CASE("a ps that comes up late is waited for") {
  fresh f;
  const auto spec = free_addresses({{"ps", 1}, {"worker", 1}});
  const task_process worker(spec, "worker", 0);
  auto x = place<"/job:ps/task:0">(constant(3));
  early_listener early(spec.address("ps", 0));
  int got = 0;
  std::thread runner([&] { got = session(toward(worker.target(), &f.g)).run(x); });
  CHECK(early.was_tried());
  const task_process ps(spec, "ps", 0);
  runner.join();
  CHECK(got == 3);
}

TEST_CASE("a target that comes up late is waited for") {
  fresh f;
  const auto spec = free_addresses({{"worker", 1}});
  auto x = constant(3);
  early_listener early(spec.address("worker", 0));
  int got = 0;
  std::thread runner([&] { got = session(toward("pinion://" + spec.address("worker", 0), &f.g)).run(x); });
  CHECK(early.was_tried());
  const task_process worker(spec, "worker", 0);
  runner.join();
  CHECK(got == 3);
}

TEST_CASE("a session that waits for its target can be closed") {
  fresh f;
  auto x = constant(3);
  const std::string address = free_addresses({{"worker", 1}}).address("worker", 0);
  early_listener early(address);
  session sess{{.target = "pinion://" + address}};
  errc code{};
  std::thread runner([&] { code = caught([&] { sess.run(x); }).code(); });
  CHECK(early.was_tried());
  sess.close();
  runner.join();
  CHECK(code == errc::cancelled);
}

TEST_CASE("a session that waits for a ps can be closed") {
  fresh f;
  const auto spec = free_addresses({{"ps", 1}, {"worker", 1}});
  auto x = place<"/job:ps/task:0">(constant(3));
  const task_process worker(spec, "worker", 0);
  early_listener early(spec.address("ps", 0));
  session sess{{.target = worker.target()}};
  errc code{};
  std::thread runner([&] { code = caught([&] { sess.run(x); }).code(); });
  CHECK(early.was_tried());
  sess.close();
  runner.join();
  CHECK(code == errc::cancelled);
}

// ---- ending

TEST_CASE("SIGTERM and SIGINT end a task with 0, and its port is free") {
  const auto spec = free_addresses({{"local", 1}});
  for (const int number : {SIGTERM, SIGINT}) {
    task_process task(spec, "local", 0);
    CHECK(task.target() == "pinion://" + spec.address("local", 0));
    task.signal(number);
    CHECK(task.result() == 0);
  }
}

TEST_CASE("a shutdown ends the processes of a cluster with 0, and their ports are free at once") {
  const auto spec = free_addresses({{"ps", 1}, {"worker", 1}});
  for (int round = 0; round < 2; ++round) {
    task_process ps(spec, "ps", 0), worker(spec, "worker", 0);
    shutdown(spec);
    CHECK_NOTHROW(server(spec, {.job = "ps"}));
    CHECK(ps.result() == 0);
    CHECK(worker.result() == 0);
  }
}

TEST_CASE("a shutdown of one task leaves the others") {
  fresh f;
  const auto spec = free_addresses({{"ps", 1}, {"worker", 1}});
  task_process ps(spec, "ps", 0), worker(spec, "worker", 0);
  shutdown(ps.target());
  CHECK(ps.result() == 0);
  CHECK(int(session(toward(worker.target())).run(constant(3))) == 3);
}

TEST_CASE("a stopped task does not answer a shutdown for ever") {
  task_process task(free_addresses({{"local", 1}}), "local", 0);
  task.signal(SIGSTOP);
  const stopwatch since;
  CHECK(caught([&] { shutdown(task.target()); }).code() == errc::unavailable);
  CHECK(since.passed() < 15s);
}

}  // namespace
