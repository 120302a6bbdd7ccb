// Planning for a machine that is not here: a model of two towers, a worker with two GPUs, and a placer that simulates.
//
//   user ── layers ──┐
//                    ├── loss        planning [FILE.html]: the plan as a page
//   item ── layers ──┘
//
#include <pinion/session.hpp>

#include <fstream>

namespace pn = pinion;

pn::expr<float> tower(pn::expr<float> x, const std::string& name) {
  for (int layer = 0; layer < 3; ++layer) {
    auto W = pn::variable(pn::zeros<float>({512, 512}), {.name = name + "_W"});
    x = pn::elu(pn::matmul(x, W));
  }
  return x;
}

int main(int argc, char** argv) {
  auto user = pn::placeholder<float>({1024, 512}, "user"), item = pn::placeholder<float>({1024, 512}, "item");
  auto u = tower(user, "user"), i = tower(item, "item");
  auto loss = pn::reduce_mean(u * i);

  pn::sim::machine machine;
  machine.add("/job:worker/task:0", {.type = "CPU"});
  machine.add("/job:worker/task:0", {.type = "GPU", .count = 2, .flops = 1e12, .memory_limit = 1 << 28});
  const pn::plan_options options{.costs = machine.costs()};
  const auto simple = pn::make_plan(pn::default_graph(), machine.devices(), pn::simple_placer{}, {loss}, options);
  const auto cost =
      pn::make_plan(pn::default_graph(), machine.devices(), pn::cost_placer{machine.costs()}, {loss}, options);

  fmt::print("{}\n\n{}\n\n", pn::totals_table(cost), pn::diff(simple, cost));
  if (argc > 1) std::ofstream(argv[1]) << cost.to_html();
}
