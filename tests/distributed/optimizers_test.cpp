// Optimizers on a cluster: slots and rates stand with the variables, and training gives what it gives on one machine.
#include <catch2/catch.hpp>

#include <pinion/train.hpp>

#include "sim_cluster.hpp"

#include <support/own_graph.hpp>

namespace {

using namespace pinion_tests;
namespace tr = pinion::train;

struct spread_model : own_graph {
  variable_handle<std::int64_t> step;
  variable_handle<float> table, w;
  expr<int> rows;
  operation train, init;

  explicit spread_model(const std::string& worker, int ps_tasks) {
    const device on{replica_device_setter{{.ps_tasks = ps_tasks, .worker_device = worker}}};
    step = tr::get_or_create_global_step();
    table = variable(tensor<float>::of({{1, 2}, {3, 4}, {5, 6}}), {.name = "table"});
    w = variable(tensor<float>::of({1, -1}), {.name = "w"});
    rows = placeholder<int>({unknown}, "rows");
    const auto loss = reduce_sum(square(gather(table, rows) * w));
    const auto rate =
        tr::linear_warmup(tr::exponential_decay(.1, step, {.decay_steps = 10}), step, {.warmup_steps = 5, .start = .1});
    train = tr::adam{{.learning_rate = rate, .lazy = true}}.minimize(loss, {.global_step = step});
    init = global_variables_initializer();
  }
  std::pair<tensor<float>, tensor<float>> after(session& sess, int steps) {
    sess.run(init);
    for (int i = 0; i < steps; ++i) sess.run({{rows, {i % 3, 1}}}, train);
    auto [a, b] = sess.run(table, w);
    return {a, b};
  }
};

}  // namespace

TEST_CASE("Adam with a schedule trains on two parameter servers as on one machine, each slot with its variable") {
  spread_model local("", 0);
  session here;
  const auto wanted = local.after(here, 12);

  sim_cluster c(weather{3}, 2, 1);
  spread_model m("/job:worker/task:0", 2);
  session sess{c.toward(worker_task(0))};
  const auto p = sess.plan(m.train, m.init);
  CHECK(p.device_of("table") != p.device_of("w"));
  for (const std::string v : {"table", "w"}) {
    CHECK_THAT(p.device_of(v), Catch::Contains("/job:ps"));
    CHECK(p.device_of(v + "/Adam") == p.device_of(v));
    CHECK(p.device_of(v + "/Adam_1") == p.device_of(v));
  }
  CHECK(p.device_of("table/SparseApplyAdam") == p.device_of("table"));
  CHECK(p.device_of("beta1_power") == p.device_of("table"));
  const auto got = m.after(sess, 12);
  CHECK(got.first == wanted.first);
  CHECK(got.second == wanted.second);
  CHECK(std::int64_t(sess.run(m.step)) == 12);
}

namespace {

// A table, looked up, and a matrix behind it, trained by any optimizer.
struct any_spread_model : own_graph {
  variable_handle<std::int64_t> step;
  variable_handle<float> table, w;
  expr<int> rows;
  operation train, init;

  template <class Optimizer>
  any_spread_model(const Optimizer& o, const std::string& worker, int ps_tasks) {
    const device on{replica_device_setter{{.ps_tasks = ps_tasks, .worker_device = worker}}};
    step = tr::get_or_create_global_step();
    table = variable(tensor<float>::of({{1, 2}, {3, 4}, {5, 6}}), {.name = "table"});
    w = variable(tensor<float>::of({{1, -1, .5}, {.25, 0, 2}}), {.name = "w"});
    rows = placeholder<int>({unknown}, "rows");
    const auto loss = reduce_sum(square(matmul(gather(table, rows), w) - 1.f));
    train = tr::weight_averages{.num_updates = step}.apply(o.minimize(loss, {.global_step = step}));
    init = global_variables_initializer();
  }
  std::vector<tensor<float>> after(session& sess, int steps) {
    sess.run(init);
    for (int i = 0; i < steps; ++i) sess.run({{rows, {i % 3, 1}}}, train);
    std::vector<tensor<float>> all;
    for (const char* name : {"table", "w", "table/ExponentialMovingAverage", "w/ExponentialMovingAverage"})
      all.push_back(sess.run(tr::handle_of<float>(g, g.id_of(name))));
    return all;
  }
};

template <class Optimizer>
void as_on_one_machine(const Optimizer& o, const std::vector<std::string>& beside_w) {
  any_spread_model local(o, "", 0);
  session here;
  const auto wanted = local.after(here, 7);
  sim_cluster c(weather{4}, 2, 1);
  any_spread_model m(o, "/job:worker/task:0", 2);
  session sess{c.toward(worker_task(0))};
  const auto p = sess.plan(m.train, m.init);
  CHECK(p.device_of("table") != p.device_of("w"));
  for (const std::string& name : beside_w) {
    INFO(name);
    CHECK(p.device_of(name) == p.device_of("w"));
  }
  CHECK(p.device_of("w/ExponentialMovingAverage") == p.device_of("w"));
  CHECK(m.after(sess, 7) == wanted);
}

}  // namespace

TEST_CASE("optimizers of today train on two parameter servers as on one machine, each slot with its variable") {
  as_on_one_machine(tr::adamw{{.learning_rate = .1}}, {"w/AdamW", "w/AdamW_1", "w/ApplyAdamW"});
  as_on_one_machine(tr::lion{{.learning_rate = .1}}, {"w/Lion", "w/ApplyLion"});
  as_on_one_machine(tr::lamb{{.learning_rate = .1}}, {"w/LAMB", "w/LAMB_1", "w/ApplyGradientDescent"});
  as_on_one_machine(tr::adafactor{{.learning_rate = .1}}, {"w/Adafactor", "w/Adafactor_1"});
  as_on_one_machine(tr::muon{{.learning_rate = .1}}, {"w/Muon", "w/ApplyGradientDescent"});
}

TEST_CASE("micro-batches are added up on the parameter servers") {
  as_on_one_machine(tr::accumulate{tr::adamw{{.learning_rate = .1}}, 3}, {"w/Accumulated", "w/ApplyAdamW"});
  as_on_one_machine(tr::accumulate{tr::lamb{{.learning_rate = .1}}, 2}, {"w/Accumulated"});
}
