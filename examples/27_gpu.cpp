// A GPU where the machine has one: one program for both kinds of machines.
//
//   x [?] ── /gpu:0: tanh(2 x + 1) ── y, one kernel     without a GPU, soft placement takes the CPU
//
// It needs no nvcc. A library that was built with the CUDA toolkit finds the GPUs of the machine where it runs, and
// compiles the kernel of the whole expression when the first step needs it.
#include <pinion/session.hpp>

namespace pn = pinion;

int main() {
  auto x = pn::placeholder<float>({pn::unknown}, "x");
  const auto y = [&] {
    const pn::device on("/gpu:0");
    return pn::tanh(x * 2.f + 1.f);
  }();

  pn::session sess{{.allow_soft_placement = true}};
  for (const auto& d : sess.list_devices()) fmt::print("{}\n", d.name);
  const pn::plan plan = sess.plan(y);
  for (const auto& node : plan.nodes()) {
    const bool is_cuda = node.kernel.starts_with("CUDA");
    fmt::print("{} ({}) runs on {}{}\n", node.name, node.op, node.device, is_cuda ? ": " + node.kernel : "");
  }
  fmt::print("y = {}\n", pn::to_string(sess.run({{x, {-1.f, 0.f, 1.f}}}, y)));
}
