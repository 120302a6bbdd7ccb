// Replicas of one training in several tasks: who waits for a task that stops, and what is said of it.
#include <catch2/catch.hpp>

#include <future>

#include <pinion/train.hpp>

#include "distributed/real_cluster.hpp"
#include "support/told_lines.hpp"

namespace {

namespace tr = pinion::train;
using namespace real;

// The program of one worker, whose steps end together with those of the others.
struct replica {
  replica(local_cluster& on, int task, int workers) {
    const auto use = g.as_default();
    const device where{
        replica_device_setter{{.ps_tasks = 1, .worker_device = "/job:worker/task:" + std::to_string(task)}}};
    const auto w = variable(0.0f, {.name = "w"});
    tr::ssp rule{tr::gradient_descent{{.learning_rate = 1}},
                 {.staleness = 0, .total_num_replicas = workers, .replica = task, .worker_timeout = 1h}};
    step = rule.minimize(w * -1.0f, {.global_step = tr::get_or_create_global_step()});
    hook.emplace(rule.make_session_run_hook(task == 0));
    const auto init = global_variables_initializer();
    const auto local_init = local_variables_initializer();
    sess.emplace(session_options{.target = on.target("worker", task), .graph = &g});
    if (task == 0) sess->run(init);
    sess->run(local_init);
    hook->after_create_session(*sess, coord);
  }
  ~replica() {
    coord.request_stop();
    if (sess) sess->close();
  }

  graph g;
  operation step;
  std::optional<tr::ssp_hook> hook;
  std::optional<session> sess;
  tr::coordinator coord;
};

std::string next_with(const told_lines& said, const std::string& text) {
  for (std::string line = said.next(); !line.empty(); line = said.next())
    if (line.find(text) != line.npos) return line;
  return "";
}

}  // namespace

TEST_CASE("a replica says for which task it waits, and goes on at once without one that is stopped, by name") {
  local_cluster local{{"ps", 1}, {"worker", 2}};
  const told_lines said;
  replica one(local, 0, 2), other(local, 1, 2);
  auto waits = std::async(std::launch::async, [&] { one.sess->run(one.step); });
  const std::string line = next_with(said, " has waited ");
  INFO(line);
  CHECK(line.starts_with("pinion: " + name_of("worker", 0) + " has waited "));
  CHECK(line.find(" s at clock 'ssp/clock' for replica 1 (" + name_of("worker", 1) + "), not heard of for ") !=
        line.npos);
  local.server("worker", 1).stop();
  waits.get();
  CHECK(next_with(said, "goes on at clock")
            .starts_with("pinion: " + name_of("worker", 0) + " goes on at clock 'ssp/clock' without replica 1 (" +
                         name_of("worker", 1) + "), which is lost: "));
}
