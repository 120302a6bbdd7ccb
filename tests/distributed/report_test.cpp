// The reports of tasks to those who look from outside.
#include <distributed/real_cluster.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <future>
#include <memory>
#include <optional>
#include <tuple>

#include <support/caught.hpp>
#include <support/waiting_step.hpp>

#include <pinion/distributed/server/inventory.hpp>
#include <pinion/distributed/server/reporter.hpp>
#include <pinion/distributed/wire/messages.hpp>
#include <pinion/distributed/worker/recent_failures.hpp>
#include <pinion/distributed/worker/step_counts.hpp>
#include <pinion/runtime/task.hpp>
#include <pinion/state/writing.hpp>

namespace {

using namespace real;

// The row with that name; fails the test if there is none.
template <class Row>
const Row& row(const std::vector<Row>& rows, const std::string& name) {
  const auto at = std::find_if(rows.begin(), rows.end(), [&](const Row& r) { return r.name == name; });
  INFO(name);
  REQUIRE(at != rows.end());
  return *at;
}

template <class Row>
std::vector<Row> of_container(std::vector<Row> rows, const std::string& box) {
  std::erase_if(rows, [&](const Row& r) { return r.container != box; });
  return rows;
}

TEST_CASE("a task tells its name, address, devices and limits, and the tasks beside it") {
  const tasks_in w = GENERATE(tasks_in::same_process, tasks_in::own_processes);
  const two_and_two& cluster = two_and_two::of(w);
  const task_report r = inspect(cluster.target("ps", 1));
  CHECK(r.name == name_of("ps", 1));
  CHECK("pinion://" + r.address == cluster.target("ps", 1));
  CHECK(r.version == PINION_VERSION);
  CHECK(r.state == "running");
  CHECK(r.incarnation != 0);
  CHECK((r.process == ::getpid()) == (w == tasks_in::same_process));
  CHECK(r.uptime >= 0);
  REQUIRE(r.devices.size() == 1);
  CHECK(r.devices[0].name == cpu_of("ps", 1));
  CHECK_FALSE(r.devices[0].memory_is_limited);
  REQUIRE(r.peers.size() == 3);
  CHECK(r.peers[0].name == name_of("ps", 0));
  CHECK("pinion://" + r.peers[2].address == cluster.target("worker", 1));
  CHECK(r.limits.sessions == server_limits{}.sessions);
  CHECK(r.backlog.clients >= 1);
  CHECK(r.traffic.messages_received > 0);
}

TEST_CASE("a task tells what each of its clients takes, and the clients that take most come first") {
  constexpr std::int64_t n = 300'000;
  const task_process worker({{"worker", {"127.0.0.1:0"}}}, "worker", 0);
  fresh f;
  auto x = placeholder<float>({n});
  expr<float> sum = reduce_sum(x), doubled = x * 2.f;
  fifo_queue<int> q({.capacity = 1, .shapes = {{}}, .name = "q"});
  auto never = q.dequeue();
  session waits{toward(worker.target())}, lends{toward(worker.target())}, idle{toward(worker.target())};
  session local;
  const tensor<float> value = local.run({{x, tensor<float>({n})}}, doubled);  // in memory that can be lent
  lends.run({{x, value}}, sum);
  const tensor<float> lent = lends.run({{x, value}}, doubled);
  idle.run(constant(1));
  std::thread waiting([&] { caught([&] { waits.run(never); }); });
  task_report r;
  REQUIRE(soon([&] {
    r = inspect(worker.target());
    return r.runs.size() == 1 && std::any_of(r.clients.begin(), r.clients.end(), [](auto& c) { return c.runs == 1; });
  }));
  waits.cancel_steps(error(errc::cancelled, "enough"));
  waiting.join();
  REQUIRE(r.clients.size() == 4);  // and the one who asks
  CHECK(r.backlog.clients == 4);
  const auto with = [&](auto member) {
    return std::count_if(r.clients.begin(), r.clients.end(), [&](const client_report& c) { return c.*member > 0; });
  };
  CHECK(with(&client_report::sessions) == 3);
  CHECK(with(&client_report::runs) == 1);
  CHECK(with(&client_report::slabs) == 1);
  CHECK(with(&client_report::bytes_lent) == 1);
  CHECK(r.clients[0].bytes_lent >= n * sizeof(float));
  CHECK(r.clients[0].slab_bytes >= n * sizeof(float));
  CHECK(r.clients[0].slab_bytes == r.shared.slab_bytes);
  CHECK(r.clients[0].bytes_lent == r.shared.bytes_lent);
  for (const client_report& c : r.clients) {
    CHECK_THAT(c.address, Catch::StartsWith("127.0.0.1:"));
    CHECK(c.task == "");
    CHECK(c.connections >= 1);
  }
}

TEST_CASE("a task tells which of its clients are tasks, and how long they have been silent") {
  const two_and_two& cluster = two_and_two::of(tasks_in::same_process);
  fresh f;
  auto v = place<"/job:ps/task:0">(variable(1.f));
  session sess{toward(cluster.target("worker", 1))};
  sess.run(v.initializer());
  const auto clients = inspect(cluster.target("ps", 0)).clients;
  const auto found = std::find_if(clients.begin(), clients.end(),
                                  [](const client_report& c) { return c.task == name_of("worker", 1); });
  REQUIRE(found != clients.end());
  CHECK(found->silence < 60);
  CHECK(found->connections == 2);
}

TEST_CASE("a task tells each of its limits") {
  const auto parts = [](const server_limits& of) {
    const auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x] = of;  // all that there are
    return std::tuple(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x);
  };
  constexpr std::uint64_t gib = std::uint64_t{1} << 30;
  const server_limits most{101,      gib + 2, 103,      104,      105,      106, 107,      gib + 8,
                           gib + 9,  110,     111,      gib + 12, gib + 13, 114, gib + 15, gib + 16,
                           gib + 17, 118,     gib + 19, 120,      gib + 21, 122, gib + 23, gib + 24};
  local_cluster cluster({{"worker", 1}}, {.limits = most});
  CHECK((parts(inspect(cluster.target("worker", 0)).limits) == parts(most)));
}

TEST_CASE("a ps tells its variables, the largest first, with device, dtype, shape and bytes, and its queues") {
  const two_and_two& cluster = two_and_two::of(GENERATE(tasks_in::same_process, tasks_in::own_processes));
  fresh f;
  const device on{"/job:ps/task:0"};
  auto small = variable(tensor<float>({3}), {.name = "small"});
  auto large = variable(tensor<double>({4, 5}), {.name = "large"});
  auto empty = variable(7, {.name = "empty"});
  fifo_queue<int> q({.capacity = 3, .shapes = {{}}, .name = "q"});
  session sess{toward(cluster.target("worker", 0))};
  sess.run(small.initializer(), large.initializer());
  sess.run(q.enqueue(constant(1)));
  caught([&] { sess.run(empty); });

  const task_report r = inspect(cluster.target("ps", 0));
  const auto mine = of_container(r.variables, f.box);
  REQUIRE(mine.size() == 3);
  CHECK(mine[0].name == "large");
  CHECK(mine[0].device == cpu_of("ps", 0));
  CHECK(mine[0].dtype == dtype::float64);
  CHECK(mine[0].shape == shape{4, 5});
  CHECK(mine[0].bytes == 160);
  CHECK(mine[1].name == "small");
  CHECK(mine[1].bytes == 12);
  CHECK(mine[2].name == "empty");
  CHECK(mine[2].bytes == 0);
  CHECK(r.variable_count == r.variables.size());
  CHECK(r.variable_bytes >= 172);
  const auto queues = of_container(r.queues, f.box);
  REQUIRE(queues.size() == 1);
  CHECK(queues[0].kind == "FIFOQueue");
  CHECK(queues[0].size == 1);
  CHECK(queues[0].capacity == 3);
  CHECK_FALSE(queues[0].closed);
}

TEST_CASE("a variable of which an update does not end is told as any other, and holds no report up") {
  const any_tensor value = tensor<float>::of({1, 2}).untyped();
  const auto stuck = std::make_shared<state::variable>("stuck", value.dtype(), value.shape(), "here");
  stuck->assign(value);
  stuck->named_on("/cpu:0");
  runtime::task task({});
  task.resources.find_or_create("", "stuck", [&] { return stuck; });
  const state::updated_variables updates({stuck});
  std::optional<state::writing> update(std::in_place, updates);
  auto told = std::async(std::launch::async, [&] {
    task_report r;
    distributed::take_inventory(task, r);
    return r;
  });
  const bool in_time = told.wait_for(20s) == std::future_status::ready;
  update.reset();
  CHECK(in_time);
  const task_report r = told.get();
  REQUIRE(r.variables.size() == 1);
  CHECK(r.variables[0].device == "/cpu:0");
  CHECK(r.variables[0].bytes == 8);
}

TEST_CASE("a target tells its sessions with their owners and steps, and every task the parts that it ran") {
  fresh f;
  const cluster_spec spec = free_addresses({{"ps", 1}, {"worker", 1}});
  const task_process ps(spec, "ps", 0), worker(spec, "worker", 0);
  auto kept = place<"/job:ps/task:0">(variable(5, {.name = "kept"}));
  session sess{toward(worker.target())};
  sess.run(kept.initializer());
  for (int i = 0; i < 9; ++i) sess.run(kept);

  const task_report led = inspect(worker.target());
  REQUIRE(led.sessions.size() == 1);
  CHECK(led.sessions[0].number == 1);
  CHECK_THAT(led.sessions[0].owner, Catch::StartsWith("127."));
  CHECK(led.sessions[0].steps.ended == 10);
  CHECK(led.sessions[0].steps.failed == 0);
  CHECK(led.sessions[0].steps.running == 0);
  CHECK(led.sessions[0].memory > 0);
  CHECK(led.sessions[0].quiet <= led.sessions[0].age);
  CHECK(row(led.peers, name_of("ps", 0)).state == "running");
  CHECK(row(led.peers, name_of("ps", 0)).silence < 20);
  CHECK(row(led.peers, name_of("ps", 0)).values_by == "shared memory");

  const task_report served = inspect(ps.target());
  CHECK(served.sessions.empty());
  CHECK(served.parts.ended == 10);
  CHECK(served.failures.empty());
}

TEST_CASE("a run under way tells its age, what it computes and what it waits for") {
  fresh f;
  const cluster_spec spec = free_addresses({{"ps", 1}, {"worker", 1}});
  const task_process ps(spec, "ps", 0), worker(spec, "worker", 0);
  auto q = [&] {
    const device on{"/job:ps/task:0"};
    return fifo_queue<int>({.capacity = 3, .shapes = {{}}, .name = "q"});
  }();
  auto taken = q.dequeue();
  auto later = place<"/job:worker/task:0">(identity(taken));
  session sess{toward(worker.target())}, other{toward(worker.target())};
  other.run(q.enqueue(constant(3)));
  CHECK(int(sess.run(later)) == 3);
  std::thread runner([&] { CHECK(int(sess.run(later)) == 4); });
  task_report waits;
  const bool seen = soon([&] {
    waits = inspect(worker.target());
    return waits.runs.size() == 1 && !waits.runs[0].waits_for.empty();
  });
  const task_report holds = inspect(ps.target());
  other.run(q.enqueue(constant(4)));
  runner.join();
  REQUIRE(seen);
  CHECK(waits.runs[0].master == name_of("worker", 0));
  CHECK(waits.runs[0].step == 2);
  CHECK_THAT(waits.runs[0].waits_for, Catch::EndsWith(" from /job:ps/replica:0/task:0"));
  REQUIRE(waits.sessions.size() == 2);
  CHECK(waits.sessions[1].steps.running == 1);  // the one of the two that made its first step later
  REQUIRE(holds.runs.size() == 1);
  CHECK(holds.runs[0].step == 2);
  CHECK(holds.runs[0].master == name_of("worker", 0));
  CHECK_THAT(holds.runs[0].computes, Catch::Contains("q"));
  CHECK(holds.runs[0].waits_for == "");
  CHECK(holds.parts.running == 1);
}

TEST_CASE("a failed step is told by the target of its session and by the task that failed, and counted") {
  fresh f;
  const cluster_spec spec = free_addresses({{"ps", 1}, {"worker", 1}});
  const task_process ps(spec, "ps", 0), worker(spec, "worker", 0);
  auto kept = place<"/job:ps/task:0">(variable(5, {.name = "kept"}));
  auto row = placeholder<int>({}, "row");
  auto picked = place<"/job:ps/task:0">(gather(constant<int>({1, 2}), row, {.name = "picked"}));
  session sess{toward(worker.target())};
  caught([&] { sess.run(kept); });  // as a worker does that comes before its chief
  for (int i = 0; i < 2; ++i) caught([&] { sess.run({{row, 7}}, picked); });
  for (const auto& target : {worker.target(), ps.target()}) {
    const task_report r = inspect(target);
    REQUIRE(r.failures.size() == 1);
    CHECK_THAT(r.failures[0].sentence, Catch::Contains("'picked'"));
    CHECK(r.failures[0].times == 2);
    CHECK(r.failures[0].time > 1'700'000'000'000);
  }
  CHECK(inspect(worker.target()).sessions[0].steps.failed == 3);
  CHECK(inspect(ps.target()).parts.failed == 3);
}

TEST_CASE("a simulated accelerator tells the memory in use") {
  fresh f;
  server_config config;
  config.simulated = {sim::gpu()};
  local_cluster cluster({{"worker", 1}}, config);
  auto v = place<"/job:worker/task:0/device:GPU:0">(variable(tensor<float>({1000}), {.name = "v"}));
  session sess{toward(cluster.target("worker", 0))};
  sess.run(v.initializer());
  const task_report r = cluster.server("worker", 0).report();
  REQUIRE(r.devices.size() == 2);
  CHECK(r.devices[1].name == "/job:worker/replica:0/task:0/device:GPU:0");
  CHECK(r.devices[1].memory_used >= 4000);
  CHECK(r.devices[1].memory_is_limited);
  CHECK(r.devices[1].memory_used < r.devices[1].memory_limit);
}

TEST_CASE("a client in the server's own process owns its session without an address, and its steps take memory") {
  fresh f;
  local_cluster cluster({{"worker", 1}});
  session sess{toward(cluster.target("worker", 0))};
  sess.run(constant(1));
  const task_report r = cluster.server("worker", 0).report();
  REQUIRE(r.sessions.size() == 1);
  CHECK(r.sessions[0].owner == "");
  CHECK(r.sessions[0].memory > 0);
}

// ---- of a whole cluster

TEST_CASE("a cluster is told by any of its tasks, and one that is dead is listed with the reason, in time") {
  const cluster_spec spec = free_addresses({{"ps", 2}, {"worker", 1}});
  const task_process first(spec, "ps", 0), worker(spec, "worker", 0);
  const stopwatch since;
  const cluster_report all = inspect_cluster(worker.target(), {}, 1s);
  CHECK(since.passed() < 15s);
  REQUIRE(all.tasks.size() == 3);
  CHECK(all.tasks[0].name == name_of("ps", 0));
  CHECK(all.tasks[0].report->name == name_of("ps", 0));
  CHECK(all.tasks[0].why == "");
  CHECK(all.tasks[1].name == name_of("ps", 1));
  CHECK_FALSE(all.tasks[1].report);
  CHECK_THAT(all.tasks[1].why, Catch::Contains(name_of("ps", 1) + " at " + spec.address("ps", 1)) &&
                                   Catch::Contains("Connection refused"));
  CHECK(all.tasks[2].report->process == worker.id());
}

TEST_CASE("a task that is stopped by SIGSTOP is listed with the reason, in time") {
  const cluster_spec spec = free_addresses({{"ps", 1}, {"worker", 1}});
  task_process ps(spec, "ps", 0);
  const task_process worker(spec, "worker", 0);
  ps.signal(SIGSTOP);
  const cluster_report all = inspect_cluster(worker.target(), {}, 1s);
  CHECK_FALSE(all.tasks[0].report);
  CHECK_THAT(all.tasks[0].why, Catch::Contains(name_of("ps", 0)));
}

TEST_CASE("a target at which nobody listens is unavailable, and a wrong key is unauthenticated") {
  const cluster_spec spec = free_addresses({{"worker", 1}});
  const std::string target = "pinion://" + spec.address("worker", 0);
  CHECK(caught([&] { inspect(target, {}, 100ms); }).code() == errc::unavailable);
  const task_process keyed(spec, "worker", 0, {.key = "a secret of sixteen bytes"});
  CHECK(caught([&] { inspect(target, {.key = "another key, and no secret"}); }).code() == errc::unauthenticated);
  CHECK(inspect(target, {.key = "a secret of sixteen bytes"}).name == name_of("worker", 0));
  CHECK_THAT(inspect(target, {.key = "a secret of sixteen bytes"}).failures.at(0).sentence,
             Catch::StartsWith("refused 127."));
}

// ---- the counts behind it

TEST_CASE("steps are counted for good, and those of the last five whole seconds as a rate") {
  const time_point start{};
  distributed::step_counts counts(start);
  const auto end_at = [&](std::chrono::milliseconds t, int n, bool well = true) {
    for (int i = 0; i < n; ++i) counts.ended(well, start + t);
  };
  CHECK(counts.report(start).per_second == 0);
  end_at(0ms, 4);
  CHECK(counts.report(start + 500ms).per_second == 4);
  end_at(1500ms, 8, false);
  CHECK(counts.report(start + 1900ms).per_second == 4);  // the second is not over
  CHECK(counts.report(start + 2000ms).per_second == 6);
  CHECK(counts.report(start + 5000ms).per_second == Approx(12 / 5.0));
  CHECK(counts.report(start + 6000ms).per_second == Approx(8 / 5.0));
  CHECK(counts.report(start + 7000ms).per_second == 0);
  end_at(100'000ms, 5);
  CHECK(counts.report(start + 101'000ms).per_second == 1);
  CHECK(counts.report(start + 101'000ms).ended == 17);
  CHECK(counts.report(start + 101'000ms).failed == 8);
  CHECK(counts.last() == start + 100'000ms);
}

TEST_CASE("the last failures are kept, each once for those in a row, and long ones are cut") {
  distributed::recent_failures all;
  for (int i = 0; i < 40; ++i) all.add("failure " + std::to_string(i));
  all.add("failure 39");
  const auto kept = all.list();
  REQUIRE(kept.size() == 32);
  CHECK(kept.front().sentence == "failure 8");
  CHECK(kept.back().sentence == "failure 39");
  CHECK(kept.back().times == 2);
  all.add(std::string(5000, 'x'));
  CHECK(all.list().back().sentence.size() == 1000);
  all.add_step(error(errc::cancelled, "the client is done"));
  all.add_step(error(errc::out_of_range, "the queue is closed"));
  CHECK(all.list().back().sentence[0] == 'x');
}

TEST_CASE("Q5: however long the names are that clients choose, a report is no longer than those who look will read") {
  task_report r{.name = name_of("ps", 0)};
  r.variables.resize(10'000, {.name = std::string(4000, 'x')});
  r.queues.resize(10'000, {.name = std::string(4000, 'x')});
  r.peers.resize(20'000);
  r.clients.resize(20'000);
  distributed::shorten(r);
  CHECK(r.variables.size() > 100);
  CHECK(r.variables.size() < 1000);
  CHECK(r.peers.size() == task_report::most_rows);
  CHECK(r.clients.size() == task_report::most_rows);
  CHECK(rpc::encode(distributed::report_reply{r}).control.size() < std::size_t{16} << 20);
}

}  // namespace
