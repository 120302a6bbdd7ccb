// Nodes pinned to devices: the plan says before anything runs where each would go, the log where it went.
//
//   w ──┐
//       ├── mul ── Square ── y
//   x ──┘
//   /cpu:1  /gpu:0  /cpu:0
//
#include <pinion/session.hpp>

namespace pn = pinion;

int main() {
  auto x = pn::placeholder<float>({3}, "x");                        // nobody asks: it follows its consumer
  auto w = pn::place<"/cpu:1">(pn::variable(2.0f, {.name = "w"}));  // this node; the spec is read by the compiler
  const pn::device outer("/gpu:0");                                 // all that is made in this scope
  pn::expr<float> y = w * x;
  {
    const pn::device inner("/cpu:0");  // the inner guard wins, field by field
    y = pn::square(y);
  }

  pn::session sess{{.log_device_placement = true,
                    .placement_log = [](std::string_view line) { fmt::print("log: {}\n", line); },
                    .cpu_devices = 2,
                    .simulated = {pn::sim::gpu()}}};
  const auto plan = sess.plan(y);
  fmt::print("\n{}\n\nso mul is bound for {}\n\n", plan, plan.device_of("mul"));

  sess.run(w.initializer());
  const pn::tensor<float> result = sess.run({{x, {0, .5f, 1}}}, y);
  fmt::print("\n{}\n", result);
}
