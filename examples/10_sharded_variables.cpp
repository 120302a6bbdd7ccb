// Variables dealt out over three ps tasks by a policy, with a guard around it and one inside.
//
//   /job:ps        task:0: W, W_3     task:1: W_1, W_4     task:2: W_2, W_5, scale     in turn
//                    v                  v                    v
//   /job:worker    x ── MatMul, Relu ── MatMul_1, Relu_1 ── ... ── mul ── y
//
#include <pinion/distributed.hpp>

namespace pn = pinion;

template <class Strategy>
pn::expr<float> build(const pn::cluster_spec& cluster) {
  const pn::device outer{"/cpu:0"};  // fills in what the policy leaves open
  const pn::device on{pn::replica_device_setter<Strategy>{{.worker_device = "/job:worker/task:0", .cluster = cluster}}};
  pn::expr<float> h = pn::placeholder<float>({32, 16}, "x");
  for (const int units : {64, 4, 64, 8, 32, 8}) {
    auto W = pn::variable(pn::zeros<float>({h.shape()[1], units}), {.name = "W"});
    h = pn::relu(pn::matmul(h, W));
  }
  pn::variable_handle<float> scale;
  {
    const pn::device inner{"/job:ps/task:2"};  // has the last word
    scale = pn::variable(2.0f, {.name = "scale"});
  }
  return h * scale;
}

// Where the variables are, and how many bytes that makes on each task.
template <class Strategy>
pn::plan show(pn::local_cluster& cluster) {
  pn::graph g;
  const auto use = g.as_default();
  auto y = build<Strategy>(cluster.spec());
  pn::session sess{{.target = cluster.target("worker", 0), .operation_timeout = std::chrono::seconds(10)}};
  const auto plan = sess.plan(y);
  for (const auto& node : plan.nodes())
    if (node.op == "VariableV2") fmt::print("{:<6} {} {:>5} bytes\n", node.name, node.device, node.state);
  for (std::size_t d = 0; d < plan.devices().size(); ++d)
    fmt::print("in all {:<41} {:>5} bytes\n", plan.devices()[d].name, plan.totals()[d].variables);
  return plan;
}

int main() try {
  pn::local_cluster cluster{{{"ps", 3}, {"worker", 1}}};
  fmt::print("in turn:\n");
  show<pn::round_robin>(cluster);
  fmt::print("\nwhere there are the least bytes so far:\n");
  const auto plan = show<pn::greedy_load_balancing>(cluster);
  for (const char* name : {"W", "MatMul", "scale"}) fmt::print("\n{}: {}\n", name, plan.find(name)->reason);
} catch (const pn::error& e) {
  fmt::print(stderr, "{}\n", e.what());
  return 1;
}
