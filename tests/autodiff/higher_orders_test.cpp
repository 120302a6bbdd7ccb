// Derivatives of any order, beside arithmetic of power series: a reference that knows nothing of programs.
#include <catch2/catch.hpp>

#include <array>
#include <cmath>

#include <pinion/graph.hpp>
#include <pinion/session.hpp>

#include "support/caught.hpp"
#include "support/ends.hpp"
#include "support/own_session.hpp"
#if PINION_HAS_DISTRIBUTED
#include "distributed/wire.hpp"
#endif

namespace {

using namespace pinion;

constexpr int terms = 9;

// f(a + t) up to t^8: derivative k is k! times the coefficient of t^k.
struct series {
  std::array<double, terms> c{};

  static series at(double a) { return {{a, 1}}; }
  double derivative(int k) const { return c[static_cast<std::size_t>(k)] * std::tgamma(k + 1); }
};
template <class F>
series made(F coefficient) {
  series y;
  for (std::size_t k = 0; k < terms; ++k) y.c[k] = coefficient(y, k);
  return y;
}
// The sum of a[i] b[k - i], for i from `from` to `to`.
double folded(const series& a, const series& b, std::size_t k, std::size_t from, std::size_t to) {
  double sum = 0;
  for (std::size_t i = from; i <= to && i <= k; ++i) sum += a.c[i] * b.c[k - i];
  return sum;
}
series operator+(const series& a, const series& b) {
  return made([&](auto&, std::size_t k) { return a.c[k] + b.c[k]; });
}
series operator*(const series& a, double b) {
  return made([&](auto&, std::size_t k) { return a.c[k] * b; });
}
series operator+(const series& a, double b) {
  series y = a;
  y.c[0] += b;
  return y;
}
series operator*(const series& a, const series& b) {
  return made([&](auto&, std::size_t k) { return folded(a, b, k, 0, k); });
}
series operator/(const series& a, const series& b) {
  return made([&](auto& y, std::size_t k) { return (a.c[k] - folded(b, y, k, 1, k)) / b.c[0]; });
}
// y with y' = slope x', where the slope may be made of what is known of y.
template <class Slope>
series integrated(double first, const series& x, Slope slope) {
  series y{{first}};
  for (std::size_t k = 1; k < terms; ++k) {
    const series s = slope(y);
    double sum = 0;
    for (std::size_t i = 1; i <= k; ++i) sum += static_cast<double>(i) * x.c[i] * s.c[k - i];
    y.c[k] = sum / static_cast<double>(k);
  }
  return y;
}
series exp(const series& x) {
  return integrated(std::exp(x.c[0]), x, [](const series& y) { return y; });
}
series log(const series& x) {
  const series one{{1}};
  return integrated(std::log(x.c[0]), x, [&](const series&) { return one / x; });
}
series tanh(const series& x) {
  return integrated(std::tanh(x.c[0]), x, [](const series& y) { return y * y * -1.0 + 1.0; });
}
series sigmoid(const series& x) {
  return integrated(1 / (1 + std::exp(-x.c[0])), x, [](const series& y) { return y * (y * -1.0 + 1.0); });
}
series sin(const series& x);
series cos(const series& x) {
  const series i = x;
  series y;
  series s;
  s.c[0] = std::sin(i.c[0]), y.c[0] = std::cos(i.c[0]);
  for (std::size_t k = 1; k < terms; ++k) {
    double ds = 0, dc = 0;
    for (std::size_t j = 1; j <= k; ++j) ds += double(j) * x.c[j] * y.c[k - j], dc -= double(j) * x.c[j] * s.c[k - j];
    s.c[k] = ds / double(k), y.c[k] = dc / double(k);
  }
  return y;
}
series sin(const series& x) {
  return cos(x + -M_PI_2);
}
series pow(const series& x, double e) {
  return exp(log(x) * e);
}
series pow(const series& x, const series& e) {
  return exp(log(x) * e);
}

// An expression in x, of a graph and as a series.
template <class Of>
void check_orders(Of of, int orders, double at = 0.7) {
  graph g;
  const auto use = g.as_default();
  const expr<double> x = placeholder<double>({}, "x");
  std::vector<expr<double>> derivatives{of(x)};
  for (int k = 1; k <= orders; ++k) derivatives.push_back(std::get<0>(gradients(derivatives.back(), x)));
  const series y = of(series::at(at));
  session s{{.graph = &g}};
  for (int k = 0; k <= orders; ++k) {
    INFO("order " << k);
    CHECK(double(s.run({{x, at}}, derivatives[static_cast<std::size_t>(k)])) == Approx(y.derivative(k)).epsilon(1e-9));
  }
}

const auto product_of_four = [](auto x) { return tanh(x * .3) * tanh(x * .5) * sin(x) * exp(x * .1); };
const auto powers = [](auto x) { return pow(x, x * .5 + 1.0); };
const auto one_power = [](auto x) { return pow(x, 3.5) + pow(x, 2.0); };
const auto stated = [](auto x) { return sigmoid(x * 1.5) * sigmoid(x * x); };
const auto quotient = [](auto x) { return sin(x * 2.0) / (exp(x * x) + 1.0); };
const auto wave = [](auto x, auto r) { return sin(x * r) * tanh(x); };

// No node of these is fused with another: each is a node of its own.
const auto node_by_node = [](auto x) {
  using V = decltype(x);
  const V a = tanh(x * .3), b = tanh(x * .5), c = sin(x), d = exp(x * .1);
  const V e = a * b, f = e * c;
  return V(f * d);
};

}  // namespace

TEST_CASE("an expression has derivatives of any order") {
  check_orders(product_of_four, 8);
  check_orders(one_power, 6, 1.3);
  check_orders(stated, 6);
  check_orders(quotient, 6);
}

TEST_CASE("a power whose exponent depends on x has derivatives of any order") {
  check_orders(powers, 6, 1.3);
}

TEST_CASE("derivatives of a chain of nodes are those of the expression") {
  check_orders(node_by_node, 5);
}

TEST_CASE_METHOD(own_session, "through a sum over elements, each order has the shape of x") {
  const expr<double> x = placeholder<double>({unknown}, "x");
  expr<double> y = reduce_mean(product_of_four(x));
  for (int k = 1; k <= 5; ++k) y = reduce_sum(std::get<0>(gradients(y, x)));
  const series a = product_of_four(series::at(.2)), b = product_of_four(series::at(-1.4));
  CHECK(double(sess.run({{x, tensor<double>::of({.2, -1.4})}}, y)) == Approx((a.derivative(5) + b.derivative(5)) / 2));
}

TEST_CASE_METHOD(own_session, "a product of twelve leaves has derivatives by all of them, of order four") {
  std::vector<expr<double>> x;
  for (int i = 0; i < 12; ++i) x.push_back(constant(1 + .1 * i));
  expr<double> y =
      ((x[0] * x[1]) * (x[2] * x[3])) * ((x[4] * x[5]) * (x[6] * x[7])) * ((x[8] * x[9]) * (x[10] * x[11]));
  const expr<double> first = y;
  for (int order = 0; order < 4; ++order) {
    std::vector<output> by;
    for (const auto& v : x) by.push_back(end_of(v));
    expr<double> sum = constant(0.0);
    for (const auto& found : autodiff::differentiate(g, {end_of(y)}, by)) sum = sum + expr<double>(g, found->dense);
    y = sum;
  }
  // Of e12(x), the sum over all ways to leave out four in turn: 4! times the elementary polynomial of degree eight.
  std::array<double, 13> e{1};
  for (int i = 0; i < 12; ++i)
    for (std::size_t k = 12; k > 0; --k) e[k] += e[k - 1] * (1 + .1 * i);
  CHECK(double(sess.run(first)) == Approx(e[12]));
  CHECK(double(sess.run(y)) == Approx(24 * e[8]));
}

TEST_CASE_METHOD(own_session, "a loss of derivatives, as of a penalty, is differentiated on") {
  const expr<double> x = placeholder<double>({}, "x");
  expr<double> y = product_of_four(x);
  series t = product_of_four(series::at(.9));
  for (int k = 0; k < 3; ++k) {
    auto [dy] = gradients(y, x);
    y = dy * dy + y * y;
    series slope;
    for (std::size_t i = 0; i + 1 < terms; ++i) slope.c[i] = t.c[i + 1] * double(i + 1);
    t = slope * slope + t * t;
  }
  CHECK(double(sess.run({{x, .9}}, y)) == Approx(t.c[0]));
}

TEST_CASE_METHOD(own_session, "a broadcast operand gets the sum of its derivatives, in every order") {
  const expr<double> x = placeholder<double>({}, "x"), rows = constant<double>({{.1, .2, .3}, {.4, .5, .6}});
  expr<double> y = reduce_sum(wave(x, rows));
  for (int k = 0; k < 4; ++k) y = std::get<0>(gradients(y, x));
  double sum = 0;
  for (const double r : {.1, .2, .3, .4, .5, .6}) sum += wave(series::at(.8), r).derivative(4);
  CHECK(double(sess.run({{x, .8}}, y)) == Approx(sum));
}

namespace {

// A node that computes the sum of x[i] x[i + 1], as a peer or a helper might make it.
output chain_of_products(graph& g, const std::vector<output>& x) {
  auto p = std::make_shared<scalar::program>();
  p->arithmetic = dtype::float64;
  for (std::size_t i = 0; i < x.size(); ++i) p->emit_input(false);
  scalar::value_id sum = p->emit_constant(0);
  for (std::size_t i = 0; i + 1 < x.size(); ++i)
    sum = p->emit(
        scalar::opcode::add, sum,
        p->emit(scalar::opcode::multiply, static_cast<scalar::value_id>(i), static_cast<scalar::value_id>(i + 1)));
  p->results.push_back({sum, dtype::float64});
  return {build(g, {.op = "Map", .base_name = "y", .inputs = x, .attrs = {{"program", op::shared_program(p)}}}), 0};
}

}  // namespace

TEST_CASE_METHOD(own_session, "a node of as many inputs as there may be is differentiated, in several nodes") {
  std::vector<output> x;
  for (int i = 0; i < scalar::max_inputs; ++i) x.push_back(end_of(constant(1. + i)));
  const auto found = autodiff::differentiate(g, {chain_of_products(g, x)}, x);
  for (int i = 0; i < scalar::max_inputs; ++i) {
    REQUIRE(found[static_cast<std::size_t>(i)]);
    const double before = i > 0 ? i : 0, behind = i + 1 < scalar::max_inputs ? i + 2 : 0;
    CHECK(double(sess.run(expr<double>(g, found[static_cast<std::size_t>(i)]->dense))) == before + behind);
  }
}

TEST_CASE("a node of more inputs than there may be is refused with how many there may be") {
  graph g;
  const auto use = g.as_default();
  const std::vector<output> x(scalar::max_inputs + 1, end_of(constant(1.0)));
  CHECK(failure([&] { chain_of_products(g, x); })
            .find("the program of Map has 122 instructions, 41 inputs and 1 results; one "
                  "node takes 1024, 40 and 32 at most") != std::string::npos);
}

#if PINION_HAS_DISTRIBUTED
TEST_CASE("derivatives of high order come out of a message as they went in, and compute the same") {
  graph g;
  const expr<double> y = [&] {
    const auto use = g.as_default();
    const expr<double> x = constant(.7);
    expr<double> d = product_of_four(x);
    for (int k = 0; k < 6; ++k) d = std::get<0>(gradients(d, x));
    return d;
  }();
  graph replica;
  distributed::apply(replica, wire::again(distributed::delta_since(g)));
  CHECK(wire::text(replica) == wire::text(g));
  session s{{.graph = &replica}};
  const expr<double> there(replica, {replica.id_of(y.name()), end_of(y).index});
  CHECK(double(s.run(there)) == Approx(product_of_four(series::at(.7)).derivative(6)));
}
#endif
