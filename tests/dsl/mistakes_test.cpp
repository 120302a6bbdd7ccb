// The mistakes that users of the DSL make most, and what each is told.
//
// The compiler refuses, in tests/rejected: operands of two dtypes, bools in arithmetic and comparisons, numbers in
// logic, a fraction beside integers, functions of real numbers on integers, variables and placeholders made as
// operands, feeds, fetches and assigned values of a wrong type, gradients by integers, branches that disagree, loops
// that lose a variable, bodies that return nothing, predicates that are numbers, devices that do not parse, places
// without a kernel, ops of one's own without one. What only shows when a graph is built or run is here.
#include <catch2/catch.hpp>

#include <pinion/session.hpp>
#include <pinion/train.hpp>

#include "support/caught.hpp"
#include "support/own_graph.hpp"

namespace {

namespace pn = pinion;

struct fresh_graph : own_graph {
  pn::expr<float> x = pn::placeholder<float>({pn::unknown, 3}, "x");
  pn::expr<float> row = pn::placeholder<float>({3}, "row");
};

}  // namespace

TEST_CASE("a matrix product of what is no matrix names the rank and the line") {
  fresh_graph f;
  const auto e = caught([&] { pn::matmul(f.x, f.row); });
  const int line = __LINE__ - 1;
  CHECK(e.sentence() == "the right operand of matmul must have 2 dimensions, but has shape [3]");
  CHECK(line_of(e) == here(line));
  CHECK(e.node() == "MatMul");
}

TEST_CASE("a matrix product of shapes that do not fit names both inner extents") {
  fresh_graph f;
  auto w = pn::constant<float>({{1, 2}, {3, 4}}, "w");
  CHECK(failure([&] { pn::matmul(f.x, w); }) ==
        "invalid_argument: matmul of shapes [?, 3] and [2, 2]: the inner dimensions 3 and 2 differ");
}

TEST_CASE("shapes that do not broadcast are both named, with NumPy's rule") {
  fresh_graph f;
  auto w = pn::constant<float>({1, 2}, "w");
  CHECK(failure([&] {
          auto y = f.x + w;
          (void)y;
        }) ==
        "invalid_argument: shapes [?, 3] and [2] do not broadcast: aligned at the last axis, extents must agree or one "
        "of them be 1");
}

TEST_CASE("a gradient through an op that has none names the op and why") {
  fresh_graph f;
  auto v = pn::variable(pn::constant<float>({1, 2, 3}), {.name = "v"});
  auto y = pn::reduce_sum(pn::assign_add(v, f.row));
  const auto e = caught([&] { pn::gradients(y, f.row); });
  CHECK(e.code() == pn::errc::unimplemented);
  CHECK(e.sentence() ==
        "no gradient flows through AssignAdd: an assignment changes state; differentiate by the value assigned");
  CHECK(e.node() == "AssignAdd");
}

TEST_CASE("a gradient by what the result does not depend on names both") {
  fresh_graph f;
  auto y = pn::reduce_sum(f.x);
  CHECK(failure([&] { pn::gradients(y, f.row); }) == "invalid_argument: 'Sum' does not depend on 'row'");
  auto steps = pn::argmax(f.x, 1);
  auto z = pn::reduce_sum(pn::cast<float>(steps));
  CHECK(failure([&] { pn::gradients(z, f.x); }).find("does not depend on 'x'") != std::string::npos);
}

TEST_CASE("a placeholder that was not fed says what it wants") {
  fresh_graph f;
  auto y = f.row * 2.0f;
  pn::session sess;
  const auto e = caught([&] { sess.run(y); });
  CHECK(e.sentence() == "a placeholder of float [3] was not fed; give it a value in run({{…, value}}, …)");
  CHECK(e.node() == "row");
}

TEST_CASE("a feed of a wrong shape names the placeholder and both shapes") {
  fresh_graph f;
  pn::session sess;
  CHECK(failure([&] {
          sess.run({{f.row, {1, 2}}}, f.row);
        }) == "invalid_argument: a value of shape [2] was fed to 'row', whose shape is [3]");
}

TEST_CASE("a variable that was not initialised says how to") {
  fresh_graph f;
  auto v = pn::variable(1.0f, {.name = "v"});
  pn::session sess;
  CHECK(failure([&] { sess.run(v); }) ==
        "failed_precondition: variable 'v' is used before it was initialised; run its initializer() or "
        "pn::global_variables_initializer() first");
}

TEST_CASE("expressions of two graphs do not mix, nor does a session run another graph's") {
  fresh_graph f;
  pn::graph other;
  const auto far = [&] {
    auto use = other.as_default();
    return pn::expr<float>(pn::constant(1.0f, "far"));
  }();
  CHECK(failure([&] {
          auto y = f.row + far;
          (void)y;
        }) ==
        "invalid_argument: 'far' belongs to another graph than the other operands; each thread has a default graph of "
        "its own");
  pn::session sess;
  CHECK(failure([&] { sess.run(far); }) ==
        "invalid_argument: 'far' belongs to another graph than the session's; each thread has a default graph of its "
        "own");
}

TEST_CASE("an expression whose graph is gone says so, wherever it is used") {
  pn::expr<float> left, other;
  pn::variable_handle<float> v;
  pn::operation op;
  {
    pn::graph gone;
    auto use = gone.as_default();
    left = pn::constant(1.0f);
    v = pn::variable(1.0f);
    op = v.initializer();
  }
  const std::string says =
      "failed_precondition: an expression, variable or operation is used whose graph is gone: it was destroyed, or "
      "reset_default_graph() replaced it; keep the graph as long as what was built in it";
  pn::graph g;
  auto use = g.as_default();
  other = pn::constant(2.0f);
  CHECK(failure([&] {
          auto y = left + other;
          (void)y;
        }) == says);
  CHECK(failure([&] { pn::assign(v, 2.0f); }) == says);
  CHECK(failure([&] { left.name(); }) == says);
  CHECK(failure([&] { pn::control_dependencies after{op}; }) == says);
  pn::session sess;
  CHECK(failure([&] { sess.run(left); }) == says);
  CHECK(failure([&] { sess.run(op); }) == says);
}

TEST_CASE("what was never assigned, and a temporary that was moved on, say so") {
  fresh_graph f;
  pn::expr<float> never;
  CHECK(failure([&] {
          auto y = never + f.row;
          (void)y;
        }) == "invalid_argument: an expression that was never assigned is used as an operand");
  pn::variable_handle<float> v;
  CHECK(failure([&] {
          auto y = f.row * v;
          (void)y;
        }).find("never assigned") != std::string::npos);
  auto a = f.row * 2.0f;
  auto b = std::move(a) + 1.0f;  // a's node became part of b's
  CHECK(failure([&] {
          auto y = a - b;
          (void)y;
        }) == "invalid_argument: a temporary expression was used after it was moved into another one; name it first");
}

TEST_CASE("an axis that is not there, twice, or not squeezable, names the range") {
  fresh_graph f;
  CHECK(failure([&] { pn::reduce_sum(f.x, {.axes = {2}}); }) ==
        "invalid_argument: axis 2 of a tensor of 2 dimensions: axes are in [-2, 2)");
  CHECK(failure([&] { pn::reduce_sum(f.x, {.axes = {0, -2}}); }) == "invalid_argument: axis 0 is reduced twice");
  CHECK(failure([&] { pn::squeeze(f.row, {0}); }) ==
        "invalid_argument: axis 0 of a tensor of shape [3] is not of extent 1");
}

TEST_CASE("a reshape that does not fill its shape names both") {
  fresh_graph f;
  CHECK(failure([&] {
          pn::reshape(f.row, {2, 2});
        }) == "invalid_argument: the 3 elements of a tensor of shape [3] do not fill the shape [2, 2]");
  CHECK(failure([&] { pn::reshape(f.row, {-1, -1}); }) == "invalid_argument: the shape [?, ?] has more than one -1");
}

TEST_CASE("a value that does not fit its variable names both shapes") {
  fresh_graph f;
  auto v = pn::variable(pn::constant<float>({1, 2, 3}), {.name = "v"});
  CHECK(failure([&] { pn::assign(v, 1.0f); }) ==
        "invalid_argument: a value of shape [] cannot be assigned to a variable of shape [3]");
}

TEST_CASE("a loss that trains nothing says so") {
  fresh_graph f;
  namespace tr = pn::train;
  CHECK(failure([&] { tr::gradient_descent{{.learning_rate = .1f}}.minimize(pn::reduce_sum(f.row)); }) ==
        "invalid_argument: minimize: the graph has no trainable variables");
  auto v = pn::variable(1.0f, {.name = "v"});
  CHECK(failure([&] { tr::gradient_descent{{.learning_rate = .1f}}.minimize(pn::reduce_sum(f.row)); }) ==
        "invalid_argument: minimize: 'Sum_1' depends on no trainable variable");
}

TEST_CASE("nothing to run, and a placeholder fed twice, say so") {
  fresh_graph f;
  pn::session sess;
  CHECK(failure([&] { sess.run(); }) == "invalid_argument: run() was given nothing to fetch or run");
  CHECK(failure([&] {
          sess.run({{f.row, {1, 2, 3}}, {f.row, {1, 2, 3}}}, f.row);
        }) == "invalid_argument: 'row' was fed twice");
}
