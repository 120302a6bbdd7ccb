// Traces of steps that run on several tasks: each brings back what ran there.
#include "sim_cluster.hpp"

#include <catch2/catch.hpp>

#include <set>

#if PINION_HAS_JSON
#include <support/trace_rules.hpp>
#endif

namespace {

using namespace pinion_tests;

std::set<std::string> tasks_of(const step_trace& t) {
  std::set<std::string> names;
  for (const trace_event& e : t.events) names.insert(std::string(task_of_device(e.device)));
  return names;
}
std::int64_t count(const step_trace& t, trace_event::kind_t kind) {
  return std::count_if(t.events.begin(), t.events.end(), [&](const trace_event& e) { return e.kind == kind; });
}

// Events that a failure has ended.
std::int64_t cut_off_on(const step_trace& t, const std::string& task) {
  return std::count_if(t.events.begin(), t.events.end(), [&](const trace_event& e) {
    return e.ended == trace_event::cut_off && task_of_device(e.device) == task;
  });
}

}  // namespace

TEST_CASE("R6: a run that is asked for it brings back what ran on each task; others bring back nothing") {
  sim_cluster cluster;
  ping_pong f;                                                          // from the ps to worker 0 and back, five times
  for (const std::string& master : {worker_task(0), worker_task(1)}) {  // takes part, and does not
    session sess{cluster.toward(master)};
    sess.run(f.init);
    step_trace t;
    CHECK(f.is_right(sess.run(t, f.end)));
    CHECK(tasks_of(t) == (master == worker_task(0) ? std::set{ps_task(0), worker_task(0)}
                                                   : std::set{ps_task(0), worker_task(0), worker_task(1)}));
    CHECK(count(t, trace_event::send) == count(t, trace_event::receive));
    CHECK(count(t, trace_event::send) >= 10);
    std::set<std::string> sent, received;
    for (const trace_event& e : t.events) {
      if (e.kind == trace_event::send) sent.insert(e.key);
      if (e.kind == trace_event::receive) received.insert(e.key);
    }
    CHECK(sent == received);
    for (const trace_event& e : t.events) CHECK(e.ended == trace_event::well);
    CHECK(t.failure == "");
    for (const std::string& of : {ps_task(0), worker_task(0)}) CHECK(t.peak(of + "/device:CPU:0") >= 2 * 3 * 4);
    CHECK(f.is_right(sess.run(f.end)));
#if PINION_HAS_JSON
    const auto json = nlohmann::json::parse(t.to_json());
    CHECK(broken_rule(json) == "");
    CHECK(slices_of(json, "rpc").size() >= 20);
    CHECK(count_phase(json, "s") == static_cast<int>(sent.size()));
#endif
  }
}

TEST_CASE("R6: a run that fails brings back what ran on each task, and the node at which it failed") {
  sim_cluster cluster;
  ping_pong f;
  for (const std::string& master : {worker_task(0), worker_task(1)}) {  // takes part, and does not
    session sess{cluster.toward(master)};
    step_trace t{.left_out = 7};
    const error why = caught([&] { sess.run(t, f.end); });  // w is not initialised
    CHECK(why.code() == errc::failed_precondition);
    CHECK(t.failure == why.what());
    CHECK(t.left_out == 0);
    std::set<std::string> failed;
    for (const trace_event& e : t.events)
      if (e.ended == trace_event::failed) failed.insert(e.node + " of " + std::string(task_of_device(e.device)));
    CHECK(failed == std::set<std::string>{"w/read of " + ps_task(0)});
    if (master == worker_task(0)) CHECK(cut_off_on(t, worker_task(0)) == 6);  // all that it was to receive
  }
}

TEST_CASE("R6: a run whose peer is lost brings back what ran on the tasks that still answer") {
  sim_cluster cluster;
  const bool dies = GENERATE(true, false);  // or only stands still
  ping_pong f(ps_task(0), worker_task(0), 50);
  session sess{cluster.toward(worker_task(0), 1000ms)};
  sess.run(f.init);
  sess.run(f.end);  // makes the step
  const auto whole = cluster.took([&] { sess.run(f.end); });
  cluster.after(whole / 2, [&] { dies ? cluster.kill(ps_task(0)) : cluster.freeze(ps_task(0)); });
  step_trace t;
  const error why = caught([&] { sess.run(t, f.end); });
  CHECK(why.code() == (dies ? errc::unavailable : errc::deadline_exceeded));
  CHECK(t.failure == why.what());
  CHECK(tasks_of(t) == std::set{worker_task(0)});
  CHECK(cut_off_on(t, worker_task(0)) > 0);
  CHECK(count(t, trace_event::compute) > 0);
}

TEST_CASE("R6: a run that could not begin leaves the trace as it is") {
  sim_cluster cluster;
  ping_pong f;
  session sess{cluster.toward(worker_task(0))};
  sess.close();
  step_trace t{.left_out = 7};
  CHECK(caught([&] { sess.run(t, f.end); }).code() == errc::failed_precondition);
  CHECK(t == step_trace{.left_out = 7});
}

TEST_CASE("a trace over sockets tells of every task") {
  auto local = local_cluster{{{"ps", 1}, {"worker", 1}}};
  ping_pong f;
  session sess{{.target = local.target("worker", 0)}};
  sess.run(f.init);
  step_trace t;
  CHECK(f.is_right(sess.run(t, f.end)));
  CHECK(tasks_of(t) == std::set{ps_task(0), worker_task(0)});
}
