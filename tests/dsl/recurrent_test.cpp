// Recurrent cells, beside steps that are written one by one.
#include <catch2/catch.hpp>

#include <cmath>
#include <string>
#include <tuple>
#include <vector>

#include <pinion/graph.hpp>
#include <pinion/session.hpp>

#include "support/caught.hpp"

namespace {

using namespace pinion;

constexpr std::int64_t length_of_cells = 4, batch_of_cells = 3, inputs_of_cells = 2, units_of_cells = 3;

struct cell_bench {
  graph g;
  decltype(g.as_default()) use = g.as_default();
  session s{{.graph = &g}};
  expr<double> x = numbers({length_of_cells, batch_of_cells, inputs_of_cells}, 1), h0 = state(2), c0 = state(3);

  expr<double> numbers(const shape& of, int seed) {
    tensor<double> t(of);
    for (std::int64_t i = 0; i < t.size(); ++i) t.data()[i] = static_cast<double>((i * 29 + seed * 7) % 19) / 12 - .7;
    return constant(t);
  }
  expr<double> state(int seed) { return numbers({batch_of_cells, units_of_cells}, seed); }
  expr<double> weights(std::int64_t rows, std::int64_t gates, int seed) {
    return numbers({rows, gates * units_of_cells}, seed);
  }
  expr<double> bias(std::int64_t gates) { return numbers({gates * units_of_cells}, 9); }
  expr<double> step(std::int64_t t) {
    return reshape(slice(x, {t, 0, 0}, {1, -1, -1}), {batch_of_cells, inputs_of_cells});
  }

  void expect_same(const expr<double>& got, const expr<double>& want) {
    const tensor<double> a = s.run(got), b = s.run(want);
    REQUIRE(a.shape() == b.shape());
    double apart = 0;
    for (std::int64_t i = 0; i < a.size(); ++i) apart = std::max(apart, std::abs(a.data()[i] - b.data()[i]));
    CHECK(apart < 1e-12);
  }
  // Compares values, and the gradients of both weighted.
  void expect_same_slopes(const std::vector<expr<double>>& got, const std::vector<expr<double>>& want,
                          const std::vector<expr<double>>& by) {
    expr<double> one = constant(0.0), other = constant(0.0);
    for (std::size_t i = 0; i < got.size(); ++i) {
      expect_same(got[i], want[i]);
      const expr<double> weight = numbers(got[i].shape(), static_cast<int>(i));
      one = one + reduce_sum(got[i] * weight), other = other + reduce_sum(want[i] * weight);
    }
    for (const expr<double>& v : by) expect_same(std::get<0>(gradients(one, v)), std::get<0>(gradients(other, v)));
  }
};

std::tuple<expr<double>, expr<double>> lstm_step(const expr<double>& x, const expr<double>& h, const expr<double>& c,
                                                 const expr<double>& w, const expr<double>& u, const expr<double>& b) {
  const auto [i, f, g, o] = split<4>(matmul(x, w) + matmul(h, u) + b, 1);
  const expr<double> next = sigmoid(f) * c + sigmoid(i) * tanh(g);
  return {expr<double>(sigmoid(o) * tanh(next)), next};
}
expr<double> gru_step(const expr<double>& x, const expr<double>& h, const expr<double>& w, const expr<double>& u,
                      const expr<double>& b) {
  const auto [xr, xz, xn] = split<3>(matmul(x, w) + b, 1);
  const auto [hr, hz, hn] = split<3>(matmul(h, u), 1);
  const expr<double> r = sigmoid(xr + hr), z = sigmoid(xz + hz), n = tanh(xn + r * hn);
  return expr<double>((1.0 - z) * n + z * h);
}

}  // namespace

TEST_CASE("an LSTM is its steps, and so are its gradients") {
  cell_bench t;
  const auto w = t.weights(inputs_of_cells, 4, 4), u = t.weights(units_of_cells, 4, 5), b = t.bias(4);
  const auto [out, h, c] = lstm(t.x, t.h0, t.c0, w, u, b);
  CHECK(out.op() == "Lstm");
  std::vector<expr<double>> outputs;
  expr<double> state = t.h0, cell = t.c0;
  for (std::int64_t i = 0; i < length_of_cells; ++i) {
    std::tie(state, cell) = lstm_step(t.step(i), state, cell, w, u, b);
    outputs.push_back(state);
  }
  t.expect_same_slopes({out, h, c}, {stack(outputs), state, cell}, {t.x, t.h0, t.c0, w, u, b});
}

TEST_CASE("a GRU is its steps, and so are its gradients") {
  cell_bench t;
  const auto w = t.weights(inputs_of_cells, 3, 4), u = t.weights(units_of_cells, 3, 5), b = t.bias(3);
  const auto [out, h] = gru(t.x, t.h0, w, u, b);
  std::vector<expr<double>> outputs;
  expr<double> state = t.h0;
  for (std::int64_t i = 0; i < length_of_cells; ++i) outputs.push_back(state = gru_step(t.step(i), state, w, u, b));
  t.expect_same_slopes({out, h}, {stack(outputs), state}, {t.x, t.h0, w, u, b});
}

TEST_CASE("a plain cell from behind is its steps from the last to the first") {
  cell_bench t;
  const auto w = t.weights(inputs_of_cells, 1, 4), u = t.weights(units_of_cells, 1, 5), b = t.bias(1);
  const auto [out, h] = simple_rnn(t.x, t.h0, w, u, b, {.reverse = true});
  std::vector<expr<double>> outputs(length_of_cells);
  expr<double> state = t.h0;
  for (std::int64_t i = length_of_cells; i-- > 0;)
    outputs[static_cast<std::size_t>(i)] = state = tanh(matmul(t.step(i), w) + matmul(state, u) + b);
  t.expect_same_slopes({out, h}, {stack(outputs), state}, {t.x, t.h0, w, u, b});
}

TEST_CASE("rows of several lengths end where they do: outputs behind are 0, and states stay") {
  for (const bool reverse : {false, true}) {
    INFO("reverse " << reverse);
    cell_bench t;
    const auto w = t.weights(inputs_of_cells, 4, 4), u = t.weights(units_of_cells, 4, 5), b = t.bias(4);
    const std::vector<int> lengths{2, 0, 4};
    const auto [out, h, c] = lstm(t.x, t.h0, t.c0, w, u, b, {.lengths = constant(lengths), .reverse = reverse});
    for (std::int64_t row = 0; row < batch_of_cells; ++row) {
      const auto of_row = [&](const expr<double>& v) { return expr<double>(slice(v, {row, 0}, {1, -1})); };
      const std::int64_t length = lengths[static_cast<std::size_t>(row)];
      const expr<double> steps = slice(t.x, {0, row, 0}, {length, 1, -1});
      const auto alone = lstm(steps, of_row(t.h0), of_row(t.c0), w, u, b, {.reverse = reverse});
      t.expect_same_slopes({of_row(h), of_row(c), expr<double>(slice(out, {0, row, 0}, {length, 1, -1}))},
                           {alone.h, alone.c, alone.out}, {w, u, b, t.h0, t.c0});
      const tensor<double> behind = t.s.run(slice(out, {length, row, 0}, {-1, 1, -1}));
      for (std::int64_t i = 0; i < behind.size(); ++i) CHECK(behind.data()[i] == 0);
    }
  }
}

TEST_CASE("a length outside the sequence fails the step and names its row") {
  cell_bench t;
  const auto w = t.weights(inputs_of_cells, 3, 4), u = t.weights(units_of_cells, 3, 5), b = t.bias(3);
  const auto y = gru(t.x, t.h0, w, u, b, {.lengths = constant<int>({1, 5, 2})}).out;
  CHECK_THROWS_WITH(t.s.run(y), Catch::Contains("the length 5 of row 1 is not in [0, 4]"));
}

TEST_CASE("a recurrent layer makes its variables, and takes a batch of an unknown number of rows") {
  graph g;
  const auto use = g.as_default();
  const expr<float> x = placeholder<float>({unknown, unknown, 2}, "x");
  const auto [out, h, c] = nn::lstm(x, 3, {.seed = 1});
  const auto again = nn::gru(out, 2, {.reverse = true, .seed = 2, .name = "second"});
  std::vector<std::string> names;
  for (const node_id id : g.collection("trainable_variables")) names.push_back(g[id].name);
  CHECK(names == std::vector<std::string>{"lstm/kernel", "lstm/recurrent_kernel", "lstm/bias", "second/kernel",
                                          "second/recurrent_kernel", "second/bias"});
  session s{{.graph = &g}};
  s.run(global_variables_initializer());
  const tensor<float> y = s.run({{x, tensor<float>(shape{5, 4, 2})}}, again.h);
  CHECK(y.shape() == shape{4, 2});
  CHECK(tensor<float>(s.run({{x, tensor<float>(shape{5, 0, 2})}}, again.out)).shape() == shape{5, 0, 2});
  const expr<float> v = placeholder<float>({unknown, 2}, "v");
  CHECK_THAT(failure([&] { nn::lstm(v, 3); }), Catch::Contains("lstm of 3 units on 'v' of shape [?, 2]"));
}

TEST_CASE("a long sequence of an empty batch takes no time") {
  cell_bench t;
  const expr<double> x = placeholder<double>(shape::any(), "x"), h = placeholder<double>(shape::any(), "h");
  const auto y = simple_rnn(x, h, t.weights(inputs_of_cells, 1, 4), t.weights(units_of_cells, 1, 5), t.bias(1)).out;
  const tensor<double> steps(shape{std::int64_t{1} << 40, 0, inputs_of_cells}), none(shape{0, units_of_cells});
  CHECK(tensor<double>(t.s.run({{x, steps}, {h, none}}, y)).shape() == shape{std::int64_t{1} << 40, 0, units_of_cells});
}
