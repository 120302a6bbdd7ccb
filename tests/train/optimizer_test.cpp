// Optimizers against a plain reference; global step, slots, and what minimize refuses.
#include <pinion/train.hpp>

#include <catch2/catch.hpp>

#include <support/caught.hpp>
#include <support/ends.hpp>
#include <support/own_graph.hpp>
#include <support/tensor_text.hpp>

namespace {

using namespace pinion;
namespace tr = pinion::train;

// mean((X w - t)^2) in double, X [4, 2], w [2, 1]
constexpr double X[4][2] = {{1, 2}, {-1, .5}, {0, 1}, {2, -1}}, t[4] = {1, 0, -1, 2};
struct linear : own_graph {
  variable_handle<double> w = variable(tensor<double>::of({{.5}, {-1}}), {.name = "w"});
  expr<double> loss;

  linear() {
    auto x = constant<double>({{1, 2}, {-1, .5}, {0, 1}, {2, -1}}, "X");
    auto wanted = constant<double>({{1}, {0}, {-1}, {2}}, "t");
    loss = reduce_mean(square(matmul(x, w) - wanted));
  }
};

// The same by hand: 100 steps of the rule that says what a gradient does to a weight and its accumulator.
template <class Rule>
std::array<double, 2> by_hand(Rule rule) {
  std::array<double, 2> w{.5, -1}, a{};
  for (int step = 0; step < 100; ++step) {
    std::array<double, 2> g{};
    for (int i = 0; i < 4; ++i)
      for (std::size_t k = 0; k < 2; ++k) g[k] += 2. / 4 * X[i][k] * (X[i][0] * w[0] + X[i][1] * w[1] - t[i]);
    for (std::size_t k = 0; k < 2; ++k) rule(w[k], a[k], g[k]);
  }
  return w;
}

template <class Optimizer>
tensor<double> trained(const Optimizer& o, const session_options& options = {}) {
  linear m;
  auto train = o.minimize(m.loss);
  session sess{options};
  sess.run(global_variables_initializer());
  for (int step = 0; step < 100; ++step) sess.run(train);
  return sess.run(m.w);
}

// ---- the rules

TEST_CASE("gradient descent goes where a plain reference goes") {
  const auto wanted = by_hand([](double& w, double&, double g) { w -= double(.05f) * g; });
  const auto w = trained(tr::gradient_descent{{.learning_rate = .05f}});
  CHECK(w(0, 0) == Approx(wanted[0]).epsilon(1e-12));
  CHECK(w(1, 0) == Approx(wanted[1]).epsilon(1e-12));
}

TEST_CASE("momentum goes where a plain reference goes") {
  const auto wanted = by_hand([](double& w, double& a, double g) {
    a = double(.9f) * a + g;
    w -= double(.02f) * a;
  });
  const auto w = trained(tr::momentum{{.learning_rate = .02f, .momentum = .9f}});
  CHECK(w(0, 0) == Approx(wanted[0]).epsilon(1e-10));
  CHECK(w(1, 0) == Approx(wanted[1]).epsilon(1e-10));
}

TEST_CASE("training on other devices gives the same, bit for bit") {
  const tr::momentum o{{.learning_rate = .02f, .momentum = .9f}};
  CHECK(trained(o, {.simulated = {sim::gpu()}}) == trained(o));
}

// ---- the global step

TEST_CASE("the global step counts updates") {
  linear m;
  auto step = tr::get_or_create_global_step();
  auto train = tr::gradient_descent{{}}.minimize(m.loss, {.global_step = step});
  session sess;
  sess.run(global_variables_initializer());
  for (int i = 0; i < 7; ++i) sess.run(train);
  CHECK(std::int64_t(sess.run(step)) == 7);
}

TEST_CASE("there is one global step in a graph, int64 and not trained") {
  linear m;
  auto step = tr::get_or_create_global_step(), again = tr::get_or_create_global_step();
  CHECK(step.name() == "global_step");
  CHECK(id_of(again) == id_of(step));
  CHECK(operation(again.initializer()) == step.initializer());
  CHECK(m.g.collection("trainable_variables") == std::vector<node_id>{id_of(m.w)});
}

TEST_CASE("the step is counted once the variables are updated") {
  linear m;
  auto step = tr::get_or_create_global_step();
  auto train = tr::gradient_descent{{}}.minimize(m.loss, {.global_step = step});
  const auto& n = m.g[id_of(train)];
  CHECK(n.op == "AssignAdd");
  const auto& amount = m.g[n.inputs.at(1).node];  // made inside the scope: it waits, and the count for it
  REQUIRE(amount.control_inputs.size() == 1);
  const auto& updates = m.g[amount.control_inputs[0]];
  REQUIRE(updates.control_inputs.size() == 1);
  CHECK(m.g[updates.control_inputs[0]].op == "ApplyGradientDescent");
}

TEST_CASE("what leads from the updates to the count stands with the global step") {
  linear m;
  auto step = tr::get_or_create_global_step();
  const device elsewhere{"/job:worker/task:3"};
  auto train = tr::gradient_descent{{}}.minimize(m.loss, {.global_step = step});
  const auto& amount = m.g[m.g[id_of(train)].inputs.at(1).node];
  const auto& updates = m.g[amount.control_inputs.at(0)];
  for (const node& n : {amount, updates}) CHECK(n.colocation == std::vector<std::string>{"global_step"});
}

// ---- which variables

TEST_CASE("only the variables asked for are trained") {
  linear m;
  auto other = variable(tensor<double>::of({{1}}), {.name = "other"});
  auto both = reduce_sum(matmul(m.w, other));
  auto train = tr::gradient_descent{{}}.minimize(both, {.variables = {other}});
  session sess;
  sess.run(global_variables_initializer());
  sess.run(train);
  CHECK(sess.run(m.w) == tensor<double>::of({{.5}, {-1}}));
  CHECK(double(sess.run(other)) == Approx(1 + .5 * double(.01f)));
}

TEST_CASE("a variable that is not trainable, or that the loss does not depend on, stays as it is") {
  linear m;
  auto fixed = variable(tensor<double>::of({{1}}), {.name = "fixed", .trainable = false});
  auto apart = variable(1., {.name = "apart"});
  auto train = tr::momentum{{}}.minimize(reduce_sum(matmul(m.w, fixed)));
  session sess;
  sess.run(global_variables_initializer());
  sess.run(train);
  CHECK(double(sess.run(fixed)) == 1);
  CHECK(double(sess.run(apart)) == 1);
  CHECK_FALSE(sess.run(m.w) == tensor<double>::of({{.5}, {-1}}));
}

TEST_CASE("without a trainable variable there is nothing to minimize, and the sentence says so") {
  graph g;
  const auto use = g.as_default();
  auto x = constant(1.f, "x");
  CHECK(failure([&] { tr::gradient_descent{{}}.minimize(x); }) ==
        "invalid_argument: minimize: the graph has no trainable variables");
  variable(1.f, {.name = "v"});
  CHECK(failure([&] { tr::gradient_descent{{}}.minimize(x); }) ==
        "invalid_argument: minimize: 'x' depends on no trainable variable");
  CHECK(caught([&] { tr::gradient_descent{{}}.apply_gradients({}); }).code() == errc::invalid_argument);
}

// ---- where slots stand

TEST_CASE("a slot stands with its variable, wherever minimize was called") {
  for (const char* where : {"/cpu:1", "/gpu:0"}) {
    graph g;
    const auto use = g.as_default();
    auto v = [&] {
      const device on{where};
      return variable(tensor<float>::of({{1}}), {.name = "v"});
    }();
    const device elsewhere{"/cpu:0"};
    auto train = tr::momentum{{}}.minimize(reduce_sum(matmul(v, v)));
    auto init = global_variables_initializer();
    session sess{{.cpu_devices = 2, .simulated = {sim::gpu()}}};
    const auto p = sess.plan(train, init);
    const std::string home = p.device_of("v");
    CHECK_THAT(home, Catch::EndsWith(std::string(where) == "/gpu:0" ? "GPU:0" : "CPU:1"));
    CHECK(p.device_of("v/Momentum") == home);
    CHECK(p.device_of("v/Momentum/Assign") == home);
    CHECK(p.device_of("v/ApplyMomentum") == home);
    sess.run(init);
    sess.run(train);
    CHECK(sess.run(v)(0, 0) < 1);
  }
}

TEST_CASE("slots are state, but not trained") {
  linear m;
  tr::momentum{{}}.minimize(m.loss);
  CHECK(m.g.collection("variables").size() == 2);
  CHECK(m.g.collection("trainable_variables").size() == 1);
  CHECK(m.g.find("w/Momentum")->op() == "VariableV2");
}

TEST_CASE("two optimizers on one variable have slots of their own") {
  linear m;
  tr::momentum{{}}.minimize(m.loss);
  tr::momentum{{}}.minimize(m.loss);
  CHECK(m.g.find("w/Momentum_1"));
}

TEST_CASE("minimize is built under the guards that are open") {
  linear m;
  const device on{"/cpu:1"};
  const name_scope scope("training");
  auto train = tr::gradient_descent{{}}.minimize(m.loss);
  CHECK(to_string(train.requested_device()) == "/device:CPU:1");
  CHECK_THAT(train.name(), Catch::StartsWith("training/"));
}

}  // namespace

// ---- sparse gradients

namespace {

// A table of which each step looks a few rows up, one of them twice.
struct look_up : own_graph {
  variable_handle<float> table = variable(tensor<float>::of({{1, 2}, {3, 4}, {5, 6}, {7, 8}}), {.name = "table"});
  expr<int> rows = placeholder<int>({unknown}, "rows");
  expr<float> loss = reduce_sum(square(gather(table, rows)));
};

}  // namespace

TEST_CASE("the gradient of a look-up reaches the optimizer as rows, and only these are touched") {
  look_up m;
  auto train = tr::gradient_descent{{.learning_rate = .5f}}.minimize(m.loss);
  CHECK(m.g.find("ScatterDense") == std::nullopt);
  CHECK(m.g.find("table/SparseApplyGradientDescent") != std::nullopt);
  session sess;
  sess.run(m.table.initializer());
  sess.run({{m.rows, {0, 2, 2}}}, train);
  // rows 0: w - .5 * 2w = 0; row 2 twice: w - .5 * 4w = -w
  CHECK(to_string(sess.run(m.table)) == "[[0, 0], [3, 4], [-5, -6], [7, 8]]");
}

TEST_CASE("by gradient descent a sparse step is the dense one") {
  for (bool dense : {false, true}) {
    look_up m;
    auto loss = dense ? expr<float>(reduce_sum(square(gather(identity(m.table) * 1.0f, m.rows)))) : m.loss;
    auto train = tr::gradient_descent{{.learning_rate = .125f}}.minimize(loss);
    session sess;
    sess.run(m.table.initializer());
    for (int step = 0; step < 5; ++step) sess.run({{m.rows, {1, 3, 1}}}, train);
    static std::string sparse_result;
    const std::string result = to_string(sess.run(m.table));
    if (!dense) sparse_result = result;
    CHECK(result == sparse_result);
  }
}

TEST_CASE("momentum of rows that no index names stays, as in TensorFlow") {
  look_up m;
  auto train = tr::momentum{{.learning_rate = .25f, .momentum = .5f}}.minimize(m.loss);
  session sess;
  sess.run(global_variables_initializer());
  sess.run({{m.rows, {0}}}, train);  // a = 2w = (2, 4), w = (1, 2) - .25 a = (.5, 1)
  sess.run({{m.rows, {1}}}, train);
  sess.run({{m.rows, {0}}}, train);  // a = .5 (2, 4) + (1, 2) = (2, 4), w = (.5, 1) - (.5, 1) = 0
  CHECK(to_string(sess.run(m.table)) == "[[0, 0], [1.5, 2], [5, 6], [7, 8]]");
}

TEST_CASE("look-ups of one table by indices of two dtypes are one sparse gradient") {
  look_up m;
  const auto wide = constant<std::int64_t>({1, 2});
  const auto both = reduce_sum(gather(m.table, m.rows)) + reduce_sum(gather(m.table, wide));
  const auto train = tr::momentum{{.learning_rate = 1, .momentum = .5f}}.minimize(both);
  session sess;
  sess.run(global_variables_initializer());
  sess.run({{m.rows, {0, 2}}}, train);
  CHECK(to_string(sess.run(m.table)) == "[[0, 1], [2, 3], [3, 4], [7, 8]]");
  CHECK(m.g.find("ScatterDense") == std::nullopt);
}

TEST_CASE("two look-ups of one table are one sparse gradient, and a look-up beside a dense use a dense one") {
  look_up m;
  auto both = m.loss + reduce_sum(gather(m.table, m.rows));
  tr::gradient_descent{{.learning_rate = .5f}}.minimize(both);
  CHECK(m.g.find("table/SparseApplyGradientDescent") != std::nullopt);
  auto mixed = m.loss + reduce_sum(m.table);
  auto train = tr::gradient_descent{{.learning_rate = .5f}}.minimize(mixed);
  CHECK(m.g.find("table/ApplyGradientDescent") != std::nullopt);
  session sess;
  sess.run(m.table.initializer());
  sess.run({{m.rows, {3}}}, train);
  CHECK(to_string(sess.run(m.table)) == "[[0.5, 1.5], [2.5, 3.5], [4.5, 5.5], [-0.5, -0.5]]");
}

TEST_CASE("a sparse update leaves the values that somebody has read") {
  look_up m;
  auto train = tr::gradient_descent{{.learning_rate = .5f}}.minimize(m.loss);
  session sess;
  sess.run(m.table.initializer());
  const auto before = sess.run(m.table);
  sess.run({{m.rows, {0}}}, train);
  CHECK(to_string(before) == "[[1, 2], [3, 4], [5, 6], [7, 8]]");
  const auto e = caught([&] { sess.run({{m.rows, {4}}}, train); });
  CHECK(e.sentence() == "index 4 at position 0 is not in [0, 4)");
}
