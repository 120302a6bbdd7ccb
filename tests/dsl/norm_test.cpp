// Norms of rows, beside what the other ops make of them.
#include <catch2/catch.hpp>

#include <cmath>
#include <string>
#include <tuple>
#include <vector>

#include <pinion/graph.hpp>
#include <pinion/session.hpp>

namespace {

using namespace pinion;

const tensor<double> rows_of_norms = tensor<double>::of({{1, 2, -4, 7, .5}, {-3, 0, 2, 2, 9}, {5, 5, 5, 5, 5.5}});

template <class T>
expr<T> layer_norm_by_nodes(const expr<T>& x, const expr<T>& gamma, const expr<T>& beta, double epsilon) {
  const expr<T> mean = reduce_mean(x, {.axes = {-1}, .keep_dims = true});
  const expr<T> variance = reduce_mean(square(x - mean), {.axes = {-1}, .keep_dims = true});
  return (x - mean) / sqrt(variance + static_cast<T>(epsilon)) * gamma + beta;
}
template <class T>
expr<T> rms_norm_by_nodes(const expr<T>& x, const expr<T>& gamma, double epsilon) {
  return x / sqrt(reduce_mean(square(x), {.axes = {-1}, .keep_dims = true}) + static_cast<T>(epsilon)) * gamma;
}

struct norm_bench {
  graph g;
  decltype(g.as_default()) use = g.as_default();
  session s{{.graph = &g}};
  expr<double> x = constant(rows_of_norms), gamma = constant<double>({1, -2, .5, 3, 1}),
               beta = constant<double>({0, 1, 2, 3, 4}),
               weights = constant(tensor<double>::of({{3, -1, 2, 0, 1}, {1, 1, -4, 2, 0}, {0, 2, 1, -1, 5}}));

  void expect_same(const expr<double>& got, const expr<double>& want) {
    const tensor<double> a = s.run(got), b = s.run(want);
    REQUIRE(a.shape() == b.shape());
    for (std::int64_t i = 0; i < a.size(); ++i) CHECK(a.data()[i] == Approx(b.data()[i]).margin(1e-9));
  }
  // Compares all first gradients of the weighted sums, and the gradients of a sum of their squares.
  void expect_same_gradients(const expr<double>& got, const expr<double>& want, const std::vector<expr<double>>& by) {
    std::vector<expr<double>> sums;
    for (const expr<double>& y : {got, want}) {
      expr<double> sum = constant(0.0);
      for (const expr<double>& v : by) sum = sum + reduce_sum(square(std::get<0>(gradients(y * weights, v))));
      sums.push_back(sum);
    }
    for (const expr<double>& v : by)
      expect_same(std::get<0>(gradients(got * weights, v)), std::get<0>(gradients(want * weights, v)));
    for (const expr<double>& v : {x, gamma})
      expect_same(std::get<0>(gradients(sums[0], v)), std::get<0>(gradients(sums[1], v)));
  }
};

}  // namespace

TEST_CASE("a layer norm is the formula, and so are its gradients and those of these") {
  norm_bench t;
  const expr<double> got = layer_norm(t.x, t.gamma, t.beta, {.epsilon = .1});
  const expr<double> want = layer_norm_by_nodes(t.x, t.gamma, t.beta, .1);
  t.expect_same(got, want);
  t.expect_same_gradients(got, want, {t.x, t.gamma, t.beta});
}

TEST_CASE("a norm by the root mean square is the formula, and so are its gradients and those of these") {
  norm_bench t;
  const expr<double> got = rms_norm(t.x, t.gamma, {.epsilon = .1});
  const expr<double> want = rms_norm_by_nodes(t.x, t.gamma, .1);
  t.expect_same(got, want);
  t.expect_same_gradients(got, want, {t.x, t.gamma});
}

TEST_CASE("a layer norm is one node, and its gradient another") {
  graph g;
  const auto use = g.as_default();
  const expr<float> x = placeholder<float>({unknown, 8}, "x");
  const expr<float> gamma = placeholder<float>({8}, "gamma"), beta = placeholder<float>({8}, "beta");
  const auto y = layer_norm(x, gamma, beta);
  CHECK(y.op() == "LayerNorm");
  CHECK(y.shape() == shape{unknown, 8});
  const auto [dx, dgamma, dbeta] = gradients(y, x, gamma, beta);
  CHECK(dx.op() == "LayerNormGrad");
  CHECK(dx.endpoint(g).node == dbeta.endpoint(g).node);
  CHECK(dgamma.shape() == shape{8});
}

TEST_CASE("rows of a norm are the axes that gamma has") {
  norm_bench t;
  const expr<double> image = reshape(t.x, {3, 5, 1}), flat = reshape(t.x, {1, 15});
  const expr<double> one = fill({5, 1}, 1.0), none = fill({5, 1}, 0.0);
  t.expect_same(reshape(layer_norm(image, one, none), {3, 5}), layer_norm(t.x, fill({5}, 1.0), fill({5}, 0.0)));
  t.expect_same(reshape(rms_norm(image, fill({3, 5, 1}, 1.0)), {1, 15}), rms_norm(flat, fill({15}, 1.0)));
  CHECK_THROWS_WITH(layer_norm(t.x, fill({3}, 1.0), fill({3}, 0.0)), Catch::Contains("the extents of the last axes"));
}

TEST_CASE("a gamma that is the operand itself counts once in each of its roles, in second gradients too") {
  norm_bench t;
  const expr<double> v = constant<double>({.5, -1.2, 2}), other = identity(v);
  const auto second = [&](const expr<double>& y) {
    return expr<double>(std::get<0>(gradients(reduce_sum(square(std::get<0>(gradients(y, v)))), v)));
  };
  t.expect_same(second(rms_norm(v, v)), second(rms_norm(v, other)));
  t.expect_same(second(layer_norm(v, v, v)), second(layer_norm(v, other, other)));
}

TEST_CASE("a gamma that does not fit fails the step where shapes are known only then") {
  norm_bench t;
  const expr<double> x = placeholder<double>(shape::any(), "x"), gamma = placeholder<double>(shape::any(), "gamma");
  const auto y = rms_norm(x, gamma);
  const tensor<double> row(shape{5}), none(shape{0}), scalar(shape{});
  CHECK_THROWS_WITH(t.s.run({{x, scalar}, {gamma, row}}, y), Catch::Contains("gamma of shape [5] for x of shape []"));
  CHECK_THROWS_WITH(t.s.run({{x, scalar}, {gamma, none}}, y), Catch::Contains("gamma of shape [0]"));
  CHECK_THROWS_WITH(t.s.run({{x, row}, {gamma, scalar}}, y), Catch::Contains("gamma of shape []"));
}
