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
