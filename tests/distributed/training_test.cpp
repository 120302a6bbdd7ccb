// Training on a cluster: programs of a chief and of workers with monitored sessions, and what they survive.
#include <catch2/catch.hpp>

#include <future>

#include <pinion/train.hpp>

#include "distributed/real_cluster.hpp"
#include "support/caught.hpp"
#include "support/temporary_folder.hpp"

namespace {

namespace tr = pinion::train;
using namespace real;

// A worker's program: w goes towards 3, by the gradient of (w - x)^2 of fed x.
struct worker {
  enum class rule { async, sync, ssp };

  worker(int task, int workers, rule how) {
    const auto use = g.as_default();
    device on{replica_device_setter{{.ps_tasks = 1, .worker_device = "/job:worker/task:" + std::to_string(task)}}};
    step = tr::get_or_create_global_step();
    w = variable(0.0f, {.name = "w"});
    x = placeholder<float>({}, "x");
    const auto loss = square(w - x);
    const tr::gradient_descent descent{{.learning_rate = .05f}};
    if (how == rule::async) {
      train = descent.minimize(loss, {.global_step = step});
    } else if (how == rule::sync) {
      tr::sync_replicas sync{descent, {.replicas_to_aggregate = workers, .worker_timeout = 2s}};
      train = sync.minimize(loss, {.global_step = step});
      hooks.push_back(sync.make_session_run_hook(task == 0));
    } else {
      tr::ssp bounded{descent, {.staleness = 2, .total_num_replicas = workers, .worker_timeout = 2s}};
      train = bounded.minimize(loss, {.global_step = step});
      hooks.push_back(bounded.make_session_run_hook(task == 0));
    }
  }

  // Trains until the global step; returns the steps of its own.
  int run(tr::monitored_session_options o, std::int64_t last_step) {
    const auto use = g.as_default();
    o.hooks = hooks;
    o.hooks.push_back(tr::stop_at_step({.last_step = last_step}));
    o.config.operation_timeout = 60s;
    o.log = [](std::string_view) {};
    tr::monitored_training_session sess{o};
    int steps = 0;
    for (; !sess.should_stop(); ++steps) sess.run({{x, 3.0f}}, train);
    final = sess.raw_session().run(w);
    recoveries = sess.recoveries();
    return steps;
  }

  graph g;
  variable_handle<std::int64_t> step;
  variable_handle<float> w;
  expr<float> x;
  operation train;
  std::vector<tr::any_hook> hooks;
  float final = 0;
  int recoveries = 0;
};

void train_together(worker::rule how) {
  auto local = local_cluster{{{"ps", 1}, {"worker", 3}}};
  struct trained {
    int steps;
    float final;
  };
  std::vector<std::future<trained>> all;
  for (int task : {2, 1, 0})  // those who wait for the chief come first
    all.push_back(std::async(std::launch::async, [&, task]() -> trained {
      worker me(task, 3, how);
      const int steps = me.run({.master = local.target("worker", task), .is_chief = task == 0, .max_wait = 60s}, 60);
      return {steps, me.final};
    }));
  int steps = 0;
  for (auto& one : all) {
    const auto [own_steps, final] = one.get();
    CHECK(final == Approx(3).margin(.2));
    steps += own_steps;
  }
  CHECK(steps >= 60);
}

}  // namespace

TEST_CASE("workers train one model, each in its own time") {
  train_together(worker::rule::async);
}
TEST_CASE("workers train one model in step, and all end when the chief does") {
  train_together(worker::rule::sync);
}
TEST_CASE("workers train one model with bounded staleness") {
  train_together(worker::rule::ssp);
}

TEST_CASE("a worker whose chief does not come says for what it waited") {
  auto local = local_cluster{{{"ps", 1}, {"worker", 2}}};
  worker me(1, 2, worker::rule::async);
  CHECK(refusal([&] { me.run({.master = local.target("worker", 1), .is_chief = false, .max_wait = 50ms}, 10); },
                errc::deadline_exceeded, "Session was not ready", "'global_step'") == "");
}

TEST_CASE("a ps that is killed and started again costs no step of the last checkpoint") {
  temporary_folder dir;
  const cluster_spec spec = free_addresses({{"ps", 1}, {"worker", 1}});
  auto ps = std::make_unique<task_process>(spec, "ps", 0, task_options{.heartbeat = 200ms});
  task_process chief(spec, "worker", 0, {.heartbeat = 200ms});
  worker me(0, 1, worker::rule::async);
  int kills = 0;
  struct killer {
    std::function<void(session&)> look;
    void after_run(tr::run_context& c, std::span<const any_tensor>) { look(c.session()); }
  };
  me.hooks.push_back(killer{[&](session& s) {
    if (kills == 0 && std::int64_t(s.run(me.step)) >= 20) {
      ++kills;
      ps->signal(SIGKILL);
      ps->result();  // its port is free
      ps = std::make_unique<task_process>(spec, "ps", 0, task_options{.heartbeat = 200ms});
    }
  }});
  me.run(
      {.master = chief.target(), .checkpoint_dir = dir.path(), .save_checkpoint_steps = 10, .log_step_count_steps = 0},
      60);
  CHECK(kills == 1);
  CHECK(me.recoveries >= 1);
  CHECK(me.final == Approx(3).margin(.1));
  CHECK(tr::latest_checkpoint(dir.path()) == dir.path("model-60"));
}
