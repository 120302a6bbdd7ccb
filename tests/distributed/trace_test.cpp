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
    CHECK(f.is_right(sess.run(f.end)));
#if PINION_HAS_JSON
    const auto json = nlohmann::json::parse(t.to_json());
    CHECK(broken_rule(json) == "");
    CHECK(slices_of(json, "rpc").size() >= 20);
    CHECK(count_phase(json, "s") == static_cast<int>(sent.size()));
#endif
  }
}

TEST_CASE("R6: a run that fails brings back no trace") {
  sim_cluster cluster;
  ping_pong f;
  session sess{cluster.toward(worker_task(0))};
  step_trace t{.left_out = 7};
  CHECK(caught([&] { sess.run(t, f.end); }).code() == errc::failed_precondition);  // w is not initialised
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
