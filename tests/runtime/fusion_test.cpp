// Steps as optimization fuses them, beside the same steps as they were made: values, gradients, errors and plans, for
// batches that the graph does not know.
#include <catch2/catch.hpp>

#include <cstring>
#include <tuple>
#include <utility>
#include <vector>

#include <pinion/session.hpp>

#include "support/caught.hpp"
#include "support/dice.hpp"
#include "support/own_graph.hpp"

namespace {

namespace pn = pinion;
using Catch::Contains;
using pinion_tests::dice;

constexpr std::int64_t width = 6;

bool same_bits(const pn::tensor<float>& a, const pn::tensor<float>& b) {
  return a.shape() == b.shape() &&
         std::memcmp(a.data(), b.data(), static_cast<std::size_t>(a.size()) * sizeof(float)) == 0;
}
bool near(const pn::tensor<float>& a, const pn::tensor<float>& b) {
  if (!(a.shape() == b.shape())) return false;
  for (std::int64_t i = 0; i < a.size(); ++i)
    if (a.data()[i] != Approx(b.data()[i]).epsilon(1e-4).margin(1e-5)) return false;
  return true;
}
pn::tensor<float> filled(const pn::shape& s, dice& roll) {
  pn::tensor<float> t(s);
  for (float& x : t.span()) x = static_cast<float>(roll(2001)) / 1000 - 1;
  return t;
}

// A random step over two batches of an unknown size, of statements that each make one node or a few. Some values are
// read by several nodes.
struct random_step : own_graph {
  dice roll;
  pn::expr<float> x = pn::placeholder<float>({pn::unknown, width}, "x");
  pn::expr<float> y = pn::placeholder<float>({pn::unknown, width}, "y");
  pn::expr<float> w = pn::placeholder<float>({width, width}, "w"), b = pn::placeholder<float>({width}, "b");
  std::vector<pn::expr<float>> values{x, y};
  pn::expr<float> loss, dw, db, dx;

  explicit random_step(std::uint64_t seed) : roll(seed) {
    const auto product = pn::matmul(x, w);
    const auto shifted = y + b;
    values.insert(values.end(), {product, shifted});
    for (int i = 0; i < 14; ++i) values.push_back(statement());
    loss = reduced(product);
    for (int i = 0; i < 4; ++i) {
      const auto more = reduced(i == 0 ? shifted : pick());
      loss = loss + more;
    }
    std::tie(dw, db, dx) = pn::gradients(loss, w, b, x);
  }
  // Mostly one of the last values, so that chains come about.
  const pn::expr<float>& pick() { return values[values.size() - 1 - roll(roll(2) ? 2 : values.size())]; }
  pn::expr<float> statement() {
    const pn::expr<float>&p = pick(), &q = pick();
    switch (roll(12)) {
      case 0: return p + q;
      case 1: return p * q;
      case 2: return p - q * 0.5f;
      case 3: return pn::elu(p);
      case 4: return pn::tanh(p);
      case 5: return pn::relu(p);
      case 6: return p + b;
      case 7: return b - p;
      case 8: return pn::sigmoid(p) * q;
      case 9: return pn::matmul(p, w);
      case 10: return pn::square(p - q);
      default: return pn::select(p > q, p, q);
    }
  }
  pn::expr<float> reduced(const pn::expr<float>& p) {
    const auto squared = pn::square(p);
    switch (roll(5)) {
      case 0: return pn::reduce_sum(p);
      case 1: return pn::reduce_mean(squared);
      case 2: return pn::reduce_mean(pn::reduce_max(p, {.axes = {1}}));
      case 3: return pn::reduce_sum(pn::reduce_mean(squared, {.axes = {0}}));
      default: return pn::reduce_sum(pn::reduce_sum(squared, {.axes = {-1}, .keep_dims = true}));
    }
  }
};

struct sessions {
  pn::session fused{{.intra_op_threads = 2}}, plain{{.optimize = false}};
};

}  // namespace

TEST_CASE("a fused step yields the bits of the step as it was made, and its gradients, for any batch") {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    random_step step(seed);
    pn::session fused{{.intra_op_threads = 2}}, plain{{.optimize = false}};
    for (const std::int64_t batch : {1, 5, 130}) {
      INFO("seed " << seed << ", batch " << batch);
      const auto x = filled({batch, width}, step.roll), y = filled({batch, width}, step.roll);
      const auto w = filled({width, width}, step.roll), b = filled({width}, step.roll);
      const auto run = [&](pn::session& sess, const auto&... fetches) {
        return sess.run({{step.x, x}, {step.y, y}, {step.w, w}, {step.b, b}}, fetches...);
      };
      CHECK(same_bits(run(fused, step.loss), run(plain, step.loss)));
      CHECK(same_bits(run(fused, step.values.back()), run(plain, step.values.back())));
      const auto [dw, db, dx] = run(fused, step.dw, step.db, step.dx);
      const auto [ew, eb, ex] = run(plain, step.dw, step.db, step.dx);
      CHECK((near(dw, ew) && near(db, eb) && near(dx, ex)));
    }
  }
}

TEST_CASE("a reduction of what a program computes has the bits of a reduction of elements in memory") {
  own_graph g;
  const auto x = pn::placeholder<float>(pn::shape::any(), "x"), y = pn::placeholder<float>(pn::shape::any(), "y");
  const auto product = x * y;
  std::vector<pn::any_expr> folds;
  dice roll(3);
  pn::session fused{{.intra_op_threads = 2}}, plain{{.optimize = false}};
  const std::vector<std::pair<pn::shape, pn::shape>> operands{
      {{3, 5}, {3, 5}},          {{1, 1}, {}},          {{0, 3}, {3}},
      {{150000}, {150000}},      {{150, 1000}, {1000}}, {{300, 513}, {300, 1}},
      {{140, 1025}, {1025}},     {{300, 2500}, {}},     {{50000, 3}, {3}},
      {{2, 600, 130}, {600, 1}}, {{2, 80000}, {2, 1}},  {{3, 1, 30000}, {5, 1}}};
  for (const auto& [a, b] : operands)
    for (const pn::axis_list& axes : {pn::axis_list{}, pn::axis_list{0}, pn::axis_list{-1}}) {
      if (a.rank() == 1 && !axes.all && axes.axes[0] == -1) continue;
      const auto p = filled(a, roll), q = filled(b, roll);
      const auto check = [&](const pn::expr<float>& fold) {
        INFO(pn::to_string(a) << " and " << pn::to_string(b) << ": " << fold.name());
        CHECK(!fused.plan(fold).find(product.name())->runs);
        CHECK(same_bits(fused.run({{x, p}, {y, q}}, fold), plain.run({{x, p}, {y, q}}, fold)));
      };
      check(pn::reduce_sum(product, {.axes = axes}));
      check(pn::reduce_mean(product, {.axes = axes, .keep_dims = true}));
      check(pn::reduce_max(product, {.axes = axes}));
    }
}

TEST_CASE("a mean of squares trains without the squares, nor a matrix of equal gradients") {
  own_graph g;
  const auto x = pn::placeholder<float>({pn::unknown, 3}, "x"), y = pn::placeholder<float>({pn::unknown, 3}, "y");
  const auto squares = pn::square(x - y);
  const auto loss = pn::reduce_mean(squares, {.name = "loss"});
  const auto [dx] = pn::gradients(loss, x);
  pn::session fused, plain{{.optimize = false}};
  const auto p = fused.plan(loss, dx);
  CHECK(p.find("loss")->op == "MapReduce");
  CHECK(p.find(squares.name())->optimized == "folded into loss");
  dice roll(4);
  const auto a = filled({70, 3}, roll), b = filled({70, 3}, roll);
  const auto [l, d] = fused.run({{x, a}, {y, b}}, loss, dx);
  const auto [el, ed] = plain.run({{x, a}, {y, b}}, loss, dx);
  CHECK((same_bits(l, el) && same_bits(d, ed)));
}

TEST_CASE("an error of shapes names the node whose operands do not broadcast, fused or not") {
  own_graph g;
  const auto x = pn::placeholder<float>({pn::unknown}, "x"), y = pn::placeholder<float>({pn::unknown}, "y");
  const auto first = pn::add(x, y, "first");
  const auto second = pn::multiply(first, x, "second");
  const auto loss = pn::reduce_sum(second, {.name = "loss"});
  pn::session sess;
  const auto p = sess.plan(loss);
  CHECK((!p.find("first")->runs && !p.find("second")->runs));
  const auto e = caught([&] { sess.run({{x, {1, 2}}, {y, {1, 2, 3}}}, loss); });
  CHECK((e.node() == "first" && e.op() == "Add"));
  CHECK(e.sentence() == "shapes [2] and [3] do not broadcast");
  CHECK_THAT(e.location(), Contains("fusion_test.cpp"));
}

TEST_CASE("a plan says why a node was not folded into its reader") {
  own_graph g;
  const auto x = pn::placeholder<float>({pn::unknown, 4}, "x"), y = pn::placeholder<float>({pn::unknown, 4}, "y");
  pn::session sess{{.cpu_devices = 2}};
  const auto said = [&](std::string_view node, const auto&... fetches) {
    return sess.plan(fetches...).find(node)->optimized;
  };
  const auto a = pn::exp(x, "a");
  const auto b = pn::negative(a, "b");
  (void)pn::negative(pn::exp(x));  // puts the kernel of both into this program
  CHECK(said("a", b) == "folded into b");
  const auto e = pn::sin(x, "e");
  const auto f = pn::log1p(e, "f");
  CHECK(said("e", f) == "not folded into f, since this binary has no kernel of both together");
  CHECK(said("a", a, b) == "not folded into b, since it is fetched");
  const auto c = pn::sqrt(a, "c");
  CHECK(said("a", b, c) == "not folded into b, since it is read more than once");
  const auto d = pn::subtract(a, y, "d");
  CHECK(said("a", d) == "not folded into d, since their shapes may differ");
  const auto n = pn::cast<double>(a);
  const auto m = pn::negative(n, "m");
  CHECK(said(n.name(), m) == "not folded into m, since that computes in another dtype");
  const auto there = pn::place<"/cpu:1">(pn::exp(x, "there"));
  const auto here = pn::place<"/cpu:0">(pn::negative(there, "here"));
  CHECK(said("there", here) == "not folded into here, since that runs on another device");
  const auto sum = pn::reduce_sum(a, {.name = "sum"});
  CHECK(said("a", sum) == "folded into sum");
  CHECK(said("a", sum, b) == "not folded into b, since it is read more than once");
  CHECK_THAT(pn::to_string(sess.plan(a, b)), Contains("; not folded into b, since it is fetched"));
}

// ---- states of an unknown shape, whose values have another shape after an assignment

namespace {

const pn::tensor<float> one_row = pn::tensor<float>::of({{0, 0, 0, 0}});
const pn::tensor<float> three_rows = pn::tensor<float>::of({{1, 2, 3, 4}, {5, 6, 7, 8}, {9, 10, 11, 12}});

struct open_variable : own_graph {
  pn::expr<float> given = pn::placeholder<float>({pn::unknown, 4}, "given");
  pn::expr<float> x = pn::placeholder<float>({pn::unknown, 4}, "x");
  pn::variable_handle<float> v = pn::variable(pn::expr<float>(pn::identity(given)), {.name = "v"});
};

}  // namespace

TEST_CASE("two reads of a variable need not have one shape: an assignment may stand between them") {
  open_variable f;
  const pn::expr<float> first = pn::exp(f.v);
  pn::expr<float> later = first;
  {
    const pn::control_dependencies behind{first};
    const pn::expr<float> now = pn::assign(f.v, f.x);
    const pn::control_dependencies after{now};
    later = f.v.read();
  }
  const auto [ones] = pn::gradients(pn::reduce_sum(later), later);
  const pn::expr<float> product = ones * first;
  pn::session sess;
  sess.run({{f.given, one_row}}, f.v.initializer());
  CHECK(pn::tensor<float>(sess.run({{f.x, three_rows}}, product)).shape() == pn::shape{3, 4});
}
