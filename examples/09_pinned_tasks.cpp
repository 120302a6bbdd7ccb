// Ops pinned across the tasks of a cluster, which here are in one program, on free ports.
//
//   /job:ps/task:0       W                       V       /job:ps/task:1
//                        v                       v
//   /job:worker    x ── MatMul ── Relu ──── MatMul_1 ── y
//                  task:0                   task:1
//
#include <pinion/distributed.hpp>

namespace pn = pinion;

int main() try {
  pn::local_cluster cluster{{{"ps", 2}, {"worker", 2}}};

  auto W = pn::place<"/job:ps/task:0">(pn::variable(pn::tensor<float>::of({{1, -1}, {2, 1}}), {.name = "W"}));
  auto V = pn::place<"/job:ps/task:1">(pn::variable(pn::tensor<float>::of({{1}, {10}}), {.name = "V"}));
  pn::expr<float> x, h, y;
  {
    const pn::device on{"/job:worker/task:0"};
    x = pn::placeholder<float>({pn::unknown, 2}, "x");
    h = pn::relu(pn::matmul(x, W));
  }
  {
    const pn::device on{"/job:worker/task:1"};
    y = pn::matmul(h, V);
  }

  // A session targets one task, which hands the others their parts; values go straight from task to task.
  pn::session sess{{.target = cluster.target("worker", 0), .operation_timeout = std::chrono::seconds(10)}};
  const auto plan = sess.plan(y);
  fmt::print("{}\n\n", plan);
  const auto& devices = plan.devices();
  for (const auto& t : plan.transfers())
    fmt::print("{}: {} -> {}\n", t.value, devices[t.from].name, devices[t.to].name);
  sess.run(W.initializer(), V.initializer());
  fmt::print("\n{}\n", sess.run({{x, {{1, 2}, {3, 4}}}}, y));

  // Another client, another task: the state is the cluster's, and stays when a session ends.
  pn::session other{{.target = cluster.target("worker", 1), .operation_timeout = std::chrono::seconds(10)}};
  fmt::print("{}\n", other.run({{x, {{0, 1}}}}, y));
} catch (const pn::error& e) {
  fmt::print(stderr, "{}\n", e.what());
  return 1;
}
