// A policy sees each node as it is made, and says where it goes: variables to the CPU, everything else to the GPU.
//
//   W ──┐
//       ├── MatMul ──┐
//   x ──┘            ├── [ add, Relu ] ── y
//   b ───────────────┘
//   W, b: /cpu:0     the rest: /gpu:0
//
#include <pinion/session.hpp>

namespace pn = pinion;

int main() {
  const pn::device on([](const pn::node_view& op) { return op.is<pn::op::variable>() ? "/cpu:0" : "/gpu:0"; });
  auto x = pn::placeholder<float>({pn::unknown, 2}, "x");
  auto W = pn::variable(pn::constant<float>({{1, -1}, {2, 1}}), {.name = "W"});
  auto b = pn::variable(pn::constant<float>({0, -3}), {.name = "b"});
  auto y = pn::relu(pn::matmul(x, W) + b);

  pn::session sess{{.simulated = {pn::sim::gpu()}}};
  fmt::print("{}\n", sess.plan(y));
  sess.run(pn::global_variables_initializer());
  fmt::print("{}\n", sess.run({{x, {{1, 2}, {3, 4}}}}, y));
}
