// Gradients of graphs: sums over paths and over ys, sparse gradients, what has none, gradients of gradients.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>

#include <pinion/graph.hpp>
#include <pinion/session.hpp>

#include "support/caught.hpp"
#include "support/ends.hpp"
#include "support/own_session.hpp"

namespace {

using namespace pinion;

struct bench : own_graph {
  expr<double> x = placeholder<double>({}, "x");

  double at(const expr<double>& e, double value) {
    session s{{.graph = &g, .inter_op_threads = 1, .intra_op_threads = 1}};
    return s.run({{x, value}}, e);
  }
};

std::string text(session& s, const expr<double>& e) {
  return to_string(s.run(e));
}

}  // namespace

TEST_CASE("a node that is used twice gathers both gradients") {
  bench b;
  expr<double> s = square(b.x);
  expr<double> y = s * b.x + s;
  auto [dx] = gradients(y, b.x);
  CHECK(b.at(dx, 3) == Approx(3 * 9 + 2 * 3));
}

TEST_CASE("gradients of several ys add up") {
  bench b;
  expr<double> y = sin(b.x), z = b.x * b.x;
  const auto found = autodiff::differentiate(b.g, {end_of(y), end_of(z)}, {end_of(b.x)});
  REQUIRE(found[0]);
  CHECK(b.at(expr<double>(b.g, found[0]->dense), 0.5) == Approx(std::cos(0.5) + 1));
}

TEST_CASE("the gradient by y itself is one") {
  bench b;
  auto [dx] = gradients(b.x, b.x);
  CHECK(b.at(dx, 7) == 1);
}

TEST_CASE("the gradient by something on the way, and by what leads to it, are both there") {
  bench b;
  expr<double> s = exp(b.x);
  expr<double> y = s * s;
  auto [ds, dx] = gradients(y, s, b.x);
  CHECK(b.at(ds, 0.5) == Approx(2 * std::exp(0.5)));
  CHECK(b.at(dx, 0.5) == Approx(2 * std::exp(1.0)));
}

TEST_CASE_METHOD(own_session, "a gradient has the shape of its x, where x was broadcast") {
  const expr<double> m = constant<double>({{1, 2, 3}, {4, 5, 6}}), row = constant<double>({1, 10, 100}),
                     one = constant(2.0);
  auto [drow, done] = gradients(m * row * one, row, one);
  CHECK(text(sess, drow) == "[10, 14, 18]");
  CHECK(text(sess, done) == "975");
}

TEST_CASE_METHOD(own_session, "a gradient by a variable goes through every read of it") {
  const auto v = variable(3.0, {.name = "v"});
  const expr<double> first = v * v;
  const control_dependencies after{first};
  const expr<double> y = first + v.read();
  auto [dv] = gradients(y, v);
  sess.run(v.initializer());
  CHECK(double(sess.run(dv)) == 7);
}

TEST_CASE("the gradient of an activation reads its output, so that the operand need not be kept") {
  graph g;
  const auto use = g.as_default();
  const auto x = placeholder<float>({unknown, 3}), b = placeholder<float>({3});
  const expr<float> y = elu(x + b);
  const auto [dx, db] = gradients(reduce_sum(square(y)), x, b);
  const auto reads = [&](const expr<float>& e) {
    return std::any_of(dx.node().inputs.begin(), dx.node().inputs.end(),
                       [&](const output& in) { return in.node == id_of(e); });
  };
  CHECK(reads(y));
  CHECK_FALSE(reads(x));
  CHECK(reads(b));  // its shape is that of db
  CHECK(db.node().op == "MapGrad");
}

TEST_CASE("gradient nodes stand where their forward nodes do, under a scope of their own") {
  graph g;
  const auto use = g.as_default();
  const expr<double> x = placeholder<double>({2}, "x");
  const expr<double> y = [&] {
    const device on("/job:worker/task:1");
    return expr<double>(exp(x, "e"));
  }();
  const auto nodes = g.size();
  const device elsewhere("/gpu:0");
  auto [dx] = gradients(y, x);
  CHECK(to_string(dx.requested_device()) == "/job:worker/task:1");
  for (node_id id = nodes; id < g.size(); ++id) CHECK(g[id].name.find("gradients/") == 0);
}

TEST_CASE("an x that y does not depend on is refused by name") {
  graph g;
  const auto use = g.as_default();
  const expr<double> x = placeholder<double>({}, "x"), z = placeholder<double>({}, "z"), y = exp(x, "y");
  const error e = caught([&] { (void)gradients(y, z); });
  CHECK(e.code() == errc::invalid_argument);
  CHECK(e.sentence() == "'y' does not depend on 'z'");
  CHECK(e.node() == "z");
}

TEST_CASE("an op without a gradient is named, with the reason") {
  graph g;
  const auto use = g.as_default();
  const auto v = variable(1.0, {.name = "v"});
  const expr<double> x = placeholder<double>({}, "x");
  const expr<double> y = assign_add(v, x) * 2;
  const error e = caught([&] { (void)gradients(y, x); });
  CHECK(e.code() == errc::unimplemented);
  CHECK(e.sentence() ==
        "no gradient flows through AssignAdd: an assignment changes state; differentiate by the value assigned");
  CHECK(e.node() == "AssignAdd");
}

TEST_CASE("an op without a gradient beside the way does no harm") {
  graph g;
  const auto use = g.as_default();
  const expr<double> x = placeholder<double>({}, "x");
  const auto v = variable(1.0, {.name = "v"});
  const expr<double> beside = assign_add(v, 1.0);
  auto [dx] = gradients(x * beside, x);
  CHECK(dx.dtype() == dtype::float64);
}

TEST_CASE("nothing flows through comparisons and integers") {
  bench b;
  const expr<bool> above = b.x > 1.0;
  const expr<double> y = cast<double>(above), z = cast<double>(cast<std::int64_t>(b.x));
  CHECK(failure([&] { (void)gradients(y, b.x); }).find("does not depend on 'x'") != std::string::npos);
  CHECK(failure([&] { (void)gradients(z, b.x); }).find("does not depend on 'x'") != std::string::npos);
  auto [dx] = gradients(floor(b.x) + 2 * b.x, b.x);
  CHECK(b.at(dx, 0.5) == 2);
}

TEST_CASE("the gradient of a cast between float and double is the cast back") {
  bench b;
  const expr<float> y = cast<float>(b.x);
  auto [dx] = gradients(y, b.x);
  CHECK(dx.op() == "Cast");
  CHECK(b.at(dx, 3) == 1);
}

TEST_CASE("the gradient of a program that ends in a cast follows the cast back") {
  bench b;
  const expr<float> y = cast<float>(tanh(b.x * 2));
  auto [dx] = gradients(y * y, b.x);
  const double t = std::tanh(1.);
  CHECK(b.at(dx, .5) == Approx(4 * t * (1 - t * t)).epsilon(1e-6));
}

// Fused, the comparison is a part of a program of doubles whose derivative is the constant 0.
TEST_CASE("whether there is a gradient does not depend on what was fused") {
  bench b;
  const expr<double> y = cast<double>(b.x > 1.0);
  CHECK(failure([&] { (void)gradients(y, b.x); }).find("does not depend on 'x'") != std::string::npos);
}

TEST_CASE_METHOD(own_session, "the gradient of a gather is sparse: its indices, and rows") {
  const expr<double> table = constant<double>({{1, 2}, {3, 4}, {5, 6}});
  const expr<std::int32_t> picks = constant<std::int32_t>({2, 0, 2});
  const expr<double> y = gather(table, picks) * constant<double>({{1, 1}, {10, 10}, {100, 100}});
  const auto found = autodiff::differentiate(g, {end_of(y)}, {end_of(table)});
  REQUIRE(found[0]);
  REQUIRE(found[0]->is_sparse());
  CHECK(to_string(sess.run(expr<std::int32_t>(g, found[0]->indices))) == "[2, 0, 2]");
  CHECK(text(sess, {g, found[0]->rows}) == "[[1, 1], [10, 10], [100, 100]]");
  auto [dense] = gradients(y, table);
  CHECK(text(sess, dense) == "[[10, 10], [0, 0], [101, 101]]");
}

TEST_CASE_METHOD(own_session, "indices of any shape are flattened, and sparse gradients add up with dense ones") {
  const expr<double> table = constant<double>({{1, 2}, {3, 4}});
  const expr<std::int64_t> picks = constant<std::int64_t>({{0, 1}, {1, 1}});
  const expr<double> rows = gather(table, picks);
  const auto found = autodiff::differentiate(g, {end_of(rows)}, {end_of(table)});
  CHECK(to_string(sess.run(expr<std::int64_t>(g, found[0]->indices))) == "[0, 1, 1, 1]");
  const expr<double> y = reduce_sum(rows) + reduce_sum(table * table);
  auto [dense] = gradients(y, table);
  CHECK(text(sess, dense) == "[[3, 5], [9, 11]]");
}

TEST_CASE("a gradient of a gradient is a second derivative") {
  bench b;
  expr<double> y = b.x * b.x * sin(b.x);
  auto [first] = gradients(y, b.x);
  auto [second] = gradients(first, b.x);
  auto [third] = gradients(second, b.x);
  const double x = 0.7;
  CHECK(b.at(second, x) == Approx((2 - x * x) * std::sin(x) + 4 * x * std::cos(x)));
  CHECK(b.at(third, x) == Approx(-6 * x * std::sin(x) + (6 - x * x) * std::cos(x)));
}

TEST_CASE_METHOD(own_session, "matmul, a reduction and a variable have a gradient of second order") {
  const auto W = variable(tensor<double>::of({{1, 2}, {3, 4}}), {.name = "W"});
  const expr<double> x = constant<double>({{1, -1}});
  const expr<double> y = reduce_sum(square(matmul(x, W)));
  auto [first] = gradients(y, W);
  auto [second] = gradients(reduce_sum(first * first), W);
  sess.run(global_variables_initializer());
  CHECK(text(sess, first) == "[[-4, -4], [4, 4]]");
  CHECK(text(sess, second) == "[[-32, -32], [32, 32]]");
}
