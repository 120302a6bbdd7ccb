// Two branches that do not need each other run beside each other, here on two devices; what needs both waits for both.
// Each Sum computes the Tanh that it alone reads, so the plan tells no time of a Tanh.
//
//          ┌── MatMul ─── Tanh ─── Sum ────┐       /cpu:0
//   x ─────┤                               ├── add
//          └── MatMul_1 ─ Tanh_1 ─ Sum_1 ──┘       /cpu:1
//
#include <pinion/session.hpp>

namespace pn = pinion;

pn::expr<float> branch(const pn::expr<float>& x, const char* where) {
  const pn::device on(where);
  auto W = pn::variable(pn::ones<float>({256, 256}), {.name = "W"});
  auto h = pn::matmul(x, W);
  auto y = pn::tanh(h);
  return pn::reduce_sum(y);
}

int main() {
  auto x = pn::placeholder<float>({256, 256}, "x");
  auto left = branch(x, "/cpu:0"), right = branch(x, "/cpu:1");
  auto sum = left + right;

  pn::session sess{{.cpu_devices = 2}};
  const auto plan = sess.plan(sum);  // times are estimates, in seconds from the beginning of the step
  for (const auto& node : plan.nodes())
    if (node.ends > node.starts)
      fmt::print("{:<8}  {}  {:5.1f} .. {:5.1f} us\n", node.name, node.device, node.starts * 1e6, node.ends * 1e6);
  double work = 0;
  for (const auto& device : plan.totals()) work += device.seconds;
  fmt::print("{:.1f} us of work in {:.1f} us\n", work * 1e6, plan.makespan() * 1e6);

  sess.run(pn::global_variables_initializer());
  pn::tensor<float> ones({256, 256});
  for (auto& value : ones.span()) value = 1;
  fmt::print("sum = {}\n", float(sess.run({{x, ones}}, sum)));
}
