// The interpreter beside the compiled kernels of the same programs: nanoseconds for an element, and the median ratio of
// many pairs that are measured in turns. Spaces are flat, by rows with a bias, or of narrow rows; programs are forward
// or gradients.
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <pinion/graph.hpp>
#include <pinion/op/elementwise/launch.hpp>

#include "contest.hpp"

namespace {

namespace pn = pinion;
using pn::op::program_runner;

// A run of a program over tensors of its own, by one back end.
class measured_launch {
 public:
  measured_launch(const pn::scalar::program& p, program_runner::back_end which, const std::vector<pn::shape>& inputs,
                  const std::vector<pn::shape>& results)
      : runner_(std::make_shared<program_runner>(p, which)),
        launch_(*runner_, std::make_shared<pn::op::map_layout>(inputs, inputs[0], results, runner_->program())) {
    for (const auto* shapes : {&inputs, &results})
      for (const pn::shape& s : *shapes) {
        pn::tensor<float> t(s);
        for (std::int64_t i = 0; i < t.size(); ++i) t.data()[i] = static_cast<float>(i % 997) / 500 - 1;
        held_.push_back(t.untyped());
        launch_.operand(held_.back());
      }
  }
  bool compiled() const { return runner_->compiled(); }
  double seconds(int times) const {
    pn::task_services alone;
    const double began = bench::thread_seconds();
    for (int i = 0; i < times; ++i) launch_.run(alone);
    return (bench::thread_seconds() - began) / times;
  }

 private:
  std::shared_ptr<const program_runner> runner_;
  pn::op::map_launch launch_;
  std::vector<pn::any_tensor> held_;
};

void compare(const std::string& name, const pn::scalar::program& p, const std::vector<pn::shape>& inputs,
             const std::vector<pn::shape>& results) {
  const measured_launch compiled(p, program_runner::any, inputs, results);
  const measured_launch interpreted(p, program_runner::interpreter_only, inputs, results);
  const int times = static_cast<int>(2e-4 / compiled.seconds(3)) + 1;
  std::vector<double> fast, slow, ratio;
  for (int pair = 0; pair < 61; ++pair) {
    fast.push_back(compiled.seconds(times));
    slow.push_back(interpreted.seconds(times));
    ratio.push_back(slow.back() / fast.back());
  }
  const double element = 1e9 / static_cast<double>(inputs[0].count());
  bench::print_row(name + " " + to_string(inputs[0]), "interpreted",
                   compiled.compiled() ? "compiled" : "interpreted, too: no kernel",
                   fmt::format("{:.3f} ns", bench::median(slow) * element),
                   fmt::format("{:.3f} ns", bench::median(fast) * element), bench::median(ratio), bench::at_most(1.5));
}

// An expression of x and b, where b has as many elements as a row, forward and backward.
template <class Expression>
void measure(const std::string& name, Expression make) {
  pn::graph g;
  const auto use = g.as_default();
  const auto x = pn::placeholder<float>({-1, -1}), b = pn::placeholder<float>({-1, -1});
  const auto y = make(x, b);
  const pn::scalar::program p = pn::op::program_of(y.node().attrs);
  const auto [slope] = pn::gradients(y, x);
  const pn::node& last = slope.node();  // the gradient, or a sum where x is read twice
  const pn::scalar::program d =
      pn::op::program_of((last.op == pn::op::map_gradient::name ? last : g[last.inputs[0].node]).attrs);
  const auto both = [&](const pn::shape& space, const pn::shape& bias) {
    const bool unary = p.inputs == 1;
    std::vector<pn::shape> in{space, bias}, out{space, bias};
    if (unary) in.pop_back(), out.pop_back();
    compare(name, p, in, {space});
    while (in.size() < d.inputs) in.push_back(space);
    compare(name + ", gradient", d, in, out);
  };
  for (const std::int64_t n : {1024, 65536, 1 << 20}) both({n}, {n});
  for (const auto& [rows, width] : {std::pair<std::int64_t, std::int64_t>{50, 1000}, {50, 10}, {1000, 3}})
    if (p.inputs == 2) both({rows, width}, {width});
}

}  // namespace

int main() {
  measure("x + b", [](const auto& x, const auto& b) { return x + b; });
  measure("elu(x + b)", [](const auto& x, const auto& b) { return pn::elu(x + b); });
  measure("relu(x + b)", [](const auto& x, const auto& b) { return pn::relu(x + b); });
  measure("(x - b)^2", [](const auto& x, const auto& b) { return pn::square(x - b); });
  measure("x * sigmoid(x)", [](const auto& x, const auto&) { return x * pn::sigmoid(x); });
  measure("tanh(x)", [](const auto& x, const auto&) { return pn::tanh(x); });
  measure("2 x + 1", [](const auto& x, const auto&) { return x * 2.f + 1.f; });
  measure("clip", [](const auto& x, const auto&) { return pn::minimum(pn::maximum(x, -0.5f), 0.5f); });
}
