// Activations: their values beside their formulas, the slopes at their kinks, and what they cost in nodes.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <pinion/graph.hpp>
#include <pinion/session.hpp>

#include "support/own_graph.hpp"

namespace {

using namespace pinion;

struct activation_bench : own_graph {
  std::vector<float> points{-40, -7, -3, -1.5, -.25, 0, .25, 1.5, 3, 6, 7, 40};
  expr<float> x = constant(tensor<float>({12}, points), "x");

  std::vector<float> run(const expr<float>& y) {
    session s{{.graph = &g}};
    const tensor<float> all = s.run(y);
    return {all.data(), all.data() + all.size()};
  }
  void check(const expr<float>& y, double (*formula)(double)) {
    const auto values = run(y);
    for (std::size_t i = 0; i < points.size(); ++i) {
      INFO(y.name() << " at " << points[i]);
      CHECK(values[i] == Approx(formula(points[i])).margin(1e-6));
    }
  }
  std::vector<float> slopes(const expr<float>& y) { return run(std::get<0>(gradients(y, x))); }
};

double softplus_of(double x) {
  return std::log1p(std::exp(x));
}

}  // namespace

TEST_CASE_METHOD(activation_bench, "activations have the values of their formulas") {
  check(gelu(x), [](double v) { return v / 2 * std::erfc(-v / std::sqrt(2.)); });
  check(gelu_by_tanh(x),
        [](double v) { return v / 2 * (1 + std::tanh(std::sqrt(2 / std::acos(-1.)) * (v + .044715 * v * v * v))); });
  check(silu(x), [](double v) { return v / (1 + std::exp(-v)); });
  check(mish(x), [](double v) { return v * std::tanh(softplus_of(v)); });
  check(selu(x), [](double v) { return 1.0507009873554805 * (v > 0 ? v : 1.6732632423543772 * std::expm1(v)); });
  check(relu6(x), [](double v) { return std::min(std::max(v, 0.), 6.); });
  check(hard_sigmoid(x), [](double v) { return std::min(std::max(v + 3, 0.), 6.) / 6; });
  check(hard_swish(x), [](double v) { return v * std::min(std::max(v + 3, 0.), 6.) / 6; });
  check(leaky_relu(x, .2f), [](double v) { return v > 0 ? v : .2 * v; });
  check(clip_by_value(x, -1.5f, 3.f), [](double v) { return std::min(std::max(v, -1.5), 3.); });
}

TEST_CASE_METHOD(activation_bench, "relu6 and hard_sigmoid have the slope 0 at both of their ends") {
  CHECK(slopes(relu6(x)) == std::vector<float>{0, 0, 0, 0, 0, 0, 1, 1, 1, 0, 0, 0});
  const float sixth = 1.f / 6;
  CHECK(slopes(hard_sigmoid(x)) == std::vector<float>{0, 0, 0, sixth, sixth, sixth, sixth, sixth, 0, 0, 0, 0});
}

TEST_CASE_METHOD(activation_bench, "the gradient passes through clip_by_value at its limits and between them") {
  CHECK(slopes(clip_by_value(x, -1.5f, 3.f)) == std::vector<float>{0, 0, 0, 1, 1, 1, 1, 1, 1, 0, 0, 0});
}

TEST_CASE_METHOD(activation_bench, "the slope of leaky_relu is a number, or a variable that is trained") {
  CHECK(slopes(leaky_relu(x, .5f))[3] == .5f);
  const auto slope = variable(.25f, {.name = "slope"});
  const auto y = reduce_sum(leaky_relu(x, slope));
  auto [by_slope] = gradients(y, slope);
  session s{{.graph = &g}};
  s.run(global_variables_initializer());
  CHECK(float(s.run(by_slope)) == -51.75f);  // the sum of all that is below 0
}

TEST_CASE_METHOD(activation_bench, "gelu_by_tanh has slopes where the cube of its operand would overflow") {
  const expr<float> large = constant(tensor<float>::of({1e30f, -1e30f, 1e13f}));
  CHECK(run(std::get<0>(gradients(gelu_by_tanh(large), large))) == std::vector<float>{1, 0, 1});
}

TEST_CASE_METHOD(activation_bench, "an activation of a sum is one node, and a name keeps it apart") {
  const expr<float> y = gelu(x * 2.f + 1.f);
  CHECK(y.name() == "Gelu");
  const auto& inputs = g.peek(y.id(g)).inputs;
  REQUIRE(inputs.size() == 1);
  CHECK(g.peek(inputs[0].node).name == "x");
  CHECK(expr<float>(silu(x, "gate")).name() == "gate");
}

TEST_CASE_METHOD(activation_bench, "clip_by_value joins the node that takes it, and a name keeps it apart") {
  const expr<float> y = clip_by_value(x + 1.f, -1.f, 1.f) * 2.f;
  const auto& inputs = g.peek(y.id(g)).inputs;
  REQUIRE(inputs.size() == 1);
  CHECK(g.peek(inputs[0].node).name == "x");
  const expr<float> apart = clip_by_value(x, -1.f, 1.f, "clipped") * 2.f;
  CHECK(g.peek(g.peek(apart.id(g)).inputs[0].node).base_name == "clipped");
}

TEST_CASE_METHOD(activation_bench, "activations of infinity are their limits, or NaN where infinity meets 0") {
  const float infinity = std::numeric_limits<float>::infinity();
  const expr<float> ends = constant(tensor<float>::of({-infinity, infinity}));
  for (const expr<float>& y : {expr<float>(gelu(ends)), expr<float>(gelu_by_tanh(ends)), expr<float>(silu(ends)),
                               expr<float>(mish(ends)), expr<float>(hard_swish(ends))}) {
    const auto values = run(y);
    INFO(y.name());
    CHECK(std::isnan(values[0]));
    CHECK(values[1] == infinity);
  }
  CHECK(run(selu(ends)) == std::vector<float>{-1.7580993408473766f, infinity});
  CHECK(run(relu6(ends)) == std::vector<float>{0, 6});
  CHECK(run(hard_sigmoid(ends)) == std::vector<float>{0, 1});
}

TEST_CASE_METHOD(activation_bench, "no gradient flows through stop_gradient, and its value is the operand's") {
  const auto w = variable(3.f, {.name = "w"});
  const expr<float> y = w * stop_gradient(w);
  auto [dw] = gradients(y, w);
  session s{{.graph = &g}};
  s.run(global_variables_initializer());
  CHECK(float(s.run(y)) == 9.f);
  CHECK(float(s.run(dw)) == 3.f);
}
