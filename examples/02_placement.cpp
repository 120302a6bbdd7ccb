// Where nodes go: a policy chooses by op, guards nest, and soft placement loosens what cannot be met.
//
//   w ──┐
//       ├── mul ── Exp        n
//   x ──┘
//   /cpu:1  /gpu:0  /cpu:0    /gpu:0: refused, or moved
//
#include <pinion/session.hpp>

namespace pn = pinion;

int main() {
  auto x = pn::placeholder<float>({3}, "x");  // no guard: it follows its consumer
  pn::expr<float> y, z;
  {
    // A policy is a callable: variables on the second CPU, everything else on the GPU.
    pn::device on([](const pn::node_view& op) { return op.is<pn::op::variable>() ? "/cpu:1" : "/gpu:0"; });
    auto w = pn::variable(2.0f, {.name = "w"});
    y = w * x;
  }
  pn::device outer("/gpu:0");
  auto n = pn::variable(7, {.name = "n"});  // int32 variables have no GPU kernel
  {
    pn::device inner("/cpu:0");  // the inner guard wins, field by field
    z = pn::exp(y);
  }

  const auto machine = pn::session_options{.cpu_devices = 2, .simulated = {pn::sim::gpu()}};
  pn::session strict(machine);
  fmt::print("{}\n\n", strict.plan(z));
  try {
    strict.plan(n);
  } catch (const pn::error& e) {
    fmt::print("refused: {}\n\n", e.what());
  }

  auto options = machine;
  options.allow_soft_placement = true;
  pn::session soft(options);
  for (const auto& moved : soft.plan(n).fallbacks()) fmt::print("{} -> {}: {}\n", moved.name, moved.device, moved.reason);
}
