// The gradients of biases and relu on GPUs: which nodes become part of a product, and that no value changes.
#include <catch2/catch.hpp>

#include <initializer_list>
#include <limits>
#include <string>

#include "runtime/folded_graph.hpp"

namespace {

namespace pn = pinion;

// Two layers of a graph of its own on a device, a simulated GPU unless said otherwise, and the gradients of a loss.
// Their sums are exact in any order.
struct layers : folded_graph {
  struct shape_of_layers {
    const char* where = "/gpu:0";
    bool turned = false;  // the weights stand transposed
  };
  explicit layers(const shape_of_layers& like)
      : folded_graph(like.where, pn::tensor<float>::of({{1, 2, 3}, {-1, .5f, 4}, {2, -3, 1}})),
        as{.transpose_b = like.turned} {}
  layers() : layers(shape_of_layers{}) {}

  const pn::matmul_options as;
  pn::expr<float> w1 = weights(matrix({{1, -2}, {.5f, 3}, {-1, .25f}}), matrix({{1, .5f, -1}, {-2, 3, .25f}})),
                  b1 = pn::constant<float>({.5f, -1}, "b1");
  pn::expr<float> w2 = weights(matrix({{2, -1}, {1, .5f}}), matrix({{2, 1}, {-1, .5f}})),
                  b2 = pn::constant<float>({-.5f, 2}, "b2");
  pn::expr<float> h = pn::relu(pn::matmul(x, w1, as) + b1);
  pn::expr<float> y = pn::matmul(h, w2, as) + b2;

  static pn::tensor<float> matrix(std::initializer_list<std::initializer_list<float>> rows) {
    return pn::tensor<float>::of(rows);
  }
  pn::expr<float> weights(const pn::tensor<float>& upright, const pn::tensor<float>& turned) const {
    return pn::constant(as.transpose_b ? turned : upright);
  }
  // The number of nodes of an op that run in the step of some fetches.
  template <class... Fetches>
  static int count(const std::string& op, const Fetches&... fetches) {
    int n = 0;
    const pn::plan plan = session().plan(fetches...);
    for (const auto& node : plan.nodes()) n += node.runs && node.op == op;
    return n;
  }
};

}  // namespace

TEST_CASE("on a GPU the gradients of a layer's relu and bias are the end of the product from which they come") {
  layers l;
  const auto [by_w1, by_b1] = pn::gradients(pn::reduce_sum(l.y * l.y), l.w1, l.b1);
  CHECK(layers::count("MatMulReluGrad", by_w1, by_b1) == 1);
  CHECK(l.keeps_values(l.h, by_w1, by_b1));
}

TEST_CASE("on a GPU the gradient of a bias comes with that of its weights, whose product reads what it adds up") {
  for (const bool turned : {false, true}) {
    layers l({.turned = turned});
    INFO(turned);
    const auto [w, b] = pn::gradients(pn::reduce_sum(l.y), l.w2, l.b2);
    const auto halves = b * .5f;
    CHECK(layers::count("MatMulBiasGrad", w, halves) == 1);
    CHECK(layers::count("MapGrad", w, halves) == 0);
    CHECK(l.keeps_values(w, halves));
  }
}

TEST_CASE("gradients are left alone where somebody else reads the product, or a fetch the sum") {
  layers l;
  const auto [by_h, by_b1] = pn::gradients(pn::reduce_sum(l.y * l.y), l.h, l.b1);
  CHECK(layers::count("MatMulReluGrad", by_h, by_b1) == 0);
  CHECK(l.keeps_values(by_h, by_b1));
  const auto [by_w2, by_b2] = pn::gradients(pn::reduce_sum(l.y), l.w2, l.b2);
  CHECK(layers::count("MatMulBiasGrad", by_w2, by_b2) == 0);
  CHECK(l.keeps_values(by_w2, by_b2));
}

TEST_CASE("gradients of another function than relu are left alone, and so are those of doubles") {
  layers l;
  auto other = pn::matmul(pn::elu(pn::matmul(l.x, l.w1) + l.b1), l.w2) + l.b2;
  const auto [by_w1, by_b1] = pn::gradients(pn::reduce_sum(other * other), l.w1, l.b1);
  CHECK(layers::count("MatMulReluGrad", by_w1, by_b1) == 0);

  const auto w = pn::constant<double>({{1, -2}, {3, 4}}), b = pn::constant<double>({.5, -1});
  auto of_doubles = pn::matmul(pn::relu(pn::matmul(pn::cast<double>(l.h), w) + b), w);
  const auto [by_w, by_b] = pn::gradients(pn::reduce_sum(of_doubles * of_doubles), w, b);
  CHECK(layers::count("MatMulReluGrad", by_w, by_b) == 0);
}

TEST_CASE("NaN lets no gradient pass behind relu, folded or not") {
  layers l;
  l.fed.span()[4] = std::numeric_limits<float>::quiet_NaN();
  const auto [by_b1] = pn::gradients(pn::reduce_sum(pn::matmul(l.h, l.w2)), l.b1);
  CHECK(layers::count("MatMulReluGrad", by_b1) == 1);
  CHECK(l.keeps_values(by_b1));
}

TEST_CASE("a CPU computes the gradients of biases and relu as ever") {
  layers l({.where = "/cpu:0"});
  const auto [by_w1, by_b1, by_w2, by_b2] = pn::gradients(pn::reduce_sum(l.y), l.w1, l.b1, l.w2, l.b2);
  const auto halves = by_b2 * .5f;
  CHECK(layers::count("MatMulReluGrad", by_w1, by_b1, by_w2, halves) == 0);
  CHECK(layers::count("MatMulBiasGrad", by_w1, by_b1, by_w2, halves) == 0);
}
