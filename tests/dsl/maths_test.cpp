// Mathematical functions: their values beside <cmath>, their gradients, and what they make of zeros and infinities.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include <pinion/graph.hpp>
#include <pinion/session.hpp>

#include "support/own_graph.hpp"

namespace {

using namespace pinion;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan_value = std::numeric_limits<double>::quiet_NaN();

template <class T>
std::vector<T> elements(const tensor<T>& x) {
  return {x.data(), x.data() + x.shape().count()};
}

struct maths_bench : own_graph {
  template <element T>
  std::vector<T> run(const expr<T>& y) {
    session s{{.graph = &g}};
    const tensor<T> all = s.run(y);
    return elements(all);
  }
  expr<double> vector(const std::vector<double>& x) { return constant(tensor<double>({std::int64_t(x.size())}, x)); }

  // Compares a function, which is given as an expression of x, with that of <cmath>, in units in the last place.
  void check(const expr<double>& y, const std::vector<double>& x, double (*formula)(double), double most = 6) {
    const auto values = run(y);
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double should = formula(x[i]);
      INFO(y.name() << " at " << x[i] << ": " << values[i] << ", not " << should);
      if (!std::isfinite(should)) {
        CHECK((std::isnan(should) ? std::isnan(values[i]) : values[i] == should));
      } else {
        const double unit = std::nextafter(std::abs(should), infinity) - std::abs(should);
        CHECK(std::abs(values[i] - should) <= most * unit);
      }
    }
  }
  static void near(const std::vector<double>& is, const std::vector<double>& should) {
    REQUIRE(is.size() == should.size());
    for (std::size_t i = 0; i < is.size(); ++i) CHECK(is[i] == Approx(should[i]).epsilon(1e-14));
  }
  template <class Y>
  std::vector<double> slopes(const Y& y, const expr<double>& x) {
    return run(std::get<0>(gradients(y, x)));
  }
};

// Numbers of all sizes between two limits, the limits, 0, and what is no number.
std::vector<double> points(double low, double high) {
  std::vector<double> all{low, high, 0, -0., nan_value, infinity, -infinity};
  for (double size = 1e-300; size < 1e308; size *= 1e3)
    for (const double x : {size, -size, 1.7 * size, -1.7 * size})
      if (low <= x && x <= high) all.push_back(x);
  for (int i = 1; i < 100; ++i) all.push_back(low / 100 * (100 - i) + high / 100 * i);
  return all;
}

}  // namespace

#define CHECK_FUNCTION(function, low, high)                                     \
  do {                                                                          \
    const auto at = points(low, high);                                          \
    check(function(vector(at)), at, [](double v) { return std::function(v); }); \
  } while (false)

TEST_CASE_METHOD(maths_bench, "functions of angles have the values of <cmath>") {
  CHECK_FUNCTION(tan, -20, 20);
  CHECK_FUNCTION(atan, -1e300, 1e300);
  CHECK_FUNCTION(atan, -3, 3);
  CHECK_FUNCTION(asin, -1, 1);
  CHECK_FUNCTION(acos, -1, 1);
  CHECK_FUNCTION(asin, -2, 2);
  CHECK_FUNCTION(acos, -2, 2);
}

TEST_CASE_METHOD(maths_bench, "hyperbolic functions and their inverses have the values of <cmath>") {
  CHECK_FUNCTION(sinh, -710.4, 710.4);
  CHECK_FUNCTION(cosh, -710.4, 710.4);
  CHECK_FUNCTION(asinh, -1e300, 1e300);
  CHECK_FUNCTION(asinh, -3, 3);
  CHECK_FUNCTION(acosh, -2, 1e300);
  CHECK_FUNCTION(acosh, 1, 3);
  CHECK_FUNCTION(atanh, -1, 1);
  CHECK_FUNCTION(atanh, -2, 2);
}

TEST_CASE_METHOD(maths_bench, "powers, logarithms and trunc have the values of <cmath>") {
  CHECK_FUNCTION(expm1, -700, 700);
  CHECK_FUNCTION(log2, -1, 1e300);
  CHECK_FUNCTION(log10, -1, 1e300);
  CHECK_FUNCTION(exp2, -1000, 1000);
  CHECK_FUNCTION(trunc, -9, 9);
  const auto at = points(-1e300, 1e300);
  check(reciprocal(vector(at)), at, [](double v) { return 1 / v; });
}

TEST_CASE_METHOD(maths_bench, "functions of float are computed in float") {
  const std::vector<float> at{-40, -3, -1, -.5f, -1e-20f, .25f, .5f, 1, 2.5f, 60};
  const expr<float> x = constant(tensor<float>({10}, at));
  const auto near = [&](const expr<float>& y, double (*formula)(double)) {
    const auto values = run(y);
    for (std::size_t i = 0; i < at.size(); ++i) {
      const auto should = static_cast<float>(formula(at[i]));
      INFO(y.name() << " at " << at[i]);
      if (!std::isfinite(should)) {
        CHECK((std::isnan(should) ? std::isnan(values[i]) : values[i] == should));
      } else {
        CHECK(std::abs(values[i] - should) <= 8 * std::numeric_limits<float>::epsilon() * std::abs(should));
      }
    }
  };
  near(tan(x), std::tan), near(asin(x), std::asin), near(acos(x), std::acos), near(atan(x), std::atan);
  near(sinh(x), std::sinh), near(cosh(x), std::cosh), near(asinh(x), std::asinh), near(acosh(x), std::acosh);
  near(atanh(x), std::atanh), near(expm1(x), std::expm1), near(log2(x), std::log2), near(log10(x), std::log10);
  near(exp2(x), std::exp2);
}

TEST_CASE_METHOD(maths_bench, "atan2 and hypot have the values of <cmath>, also where both are zero or infinite") {
  std::vector<double> y, x;
  const std::vector<double> each{0, -0., 1, -1, 3, -.1, 1e300, -1e300, 1e-300, infinity, -infinity, nan_value};
  for (const double a : each)
    for (const double b : each) y.push_back(a), x.push_back(b);
  const auto angles = run(expr<double>(atan2(vector(y), vector(x))));
  const auto lengths = run(expr<double>(hypot(vector(y), vector(x))));
  for (std::size_t i = 0; i < y.size(); ++i) {
    INFO(y[i] << " and " << x[i]);
    const double angle = std::atan2(y[i], x[i]), length = std::hypot(y[i], x[i]);
    if (std::isnan(y[i]) || std::isnan(x[i])) {
      CHECK(std::isnan(angles[i]));
      CHECK(std::isnan(lengths[i]));  // that of <cmath> is infinite where one of them is
      continue;
    }
    CHECK(angles[i] == Approx(angle).epsilon(1e-15));
    CHECK(std::signbit(angles[i]) == std::signbit(angle));
    CHECK((lengths[i] == length || std::abs(lengths[i] - length) <= 1e-15 * length));
  }
}

TEST_CASE_METHOD(maths_bench, "the gradients of atan2 and hypot at the origin are 0, and elsewhere do not overflow") {
  const expr<double> y = vector({0, 3, 3e200, 1}), x = vector({0, 4, 4e200, 0});
  const std::vector<double> by_y{0, 4. / 25, 4e200 / 25 / 1e200 / 1e200, 0}, by_x{0, -3. / 25, -3e-200 / 25, -1};
  const auto angle = atan2(y, x);
  near(slopes(angle, y), by_y);
  near(slopes(angle, x), by_x);
  const auto length = hypot(y, x);
  near(slopes(length, y), {0, .6, .6, 1});
  near(slopes(length, x), {0, .8, .8, 0});
}

TEST_CASE_METHOD(maths_bench, "mod has the sign of the divisor, as in Python, for floats and for integers") {
  std::vector<double> x, y;
  std::vector<std::int32_t> i, j;
  for (const int a : {-7, -6, -1, 0, 1, 5, 6, 7})
    for (const int b : {-3, -1, 1, 3}) x.push_back(a + .5), y.push_back(b), i.push_back(a), j.push_back(b);
  const auto rest = run(expr<double>(mod(vector(x), vector(y))));
  const auto times = run(expr<double>(floordiv(vector(x), vector(y))));
  const auto n = std::int64_t(i.size());
  const expr<int> a = constant(tensor<int>({n}, i)), b = constant(tensor<int>({n}, j));
  const auto whole_rest = run(expr<int>(mod(a, b)));
  const auto whole_times = run(expr<int>(floordiv(a, b)));
  for (std::size_t k = 0; k < x.size(); ++k) {
    INFO(i[k] << " and " << j[k]);
    CHECK(times[k] == std::floor(x[k] / y[k]));
    CHECK(rest[k] == x[k] - std::floor(x[k] / y[k]) * y[k]);
    const int quotient = int(std::floor(double(i[k]) / j[k]));
    CHECK(whole_times[k] == quotient);
    CHECK(whole_rest[k] == i[k] - quotient * j[k]);
  }
}

TEST_CASE_METHOD(maths_bench,
                 "integers divided by 0 have defined quotients and rests, and so has the least integer by -1") {
  const auto least = std::numeric_limits<std::int64_t>::min();
  const expr<std::int64_t> a = constant<std::int64_t>({5, -5, 0, least}), b = constant<std::int64_t>({0, 0, 0, -1});
  CHECK(run(expr<std::int64_t>(floordiv(a, b))) == std::vector<std::int64_t>{0, 0, 0, least});
  CHECK(run(expr<std::int64_t>(mod(a, b))) == std::vector<std::int64_t>{5, -5, 0, 0});
  CHECK(run(expr<std::int64_t>(mod(a, 3))) == std::vector<std::int64_t>{2, 1, 0, 1});
  const auto bytes = cast<std::uint8_t>(constant<int>({200, 7, 3}));
  CHECK(run(expr<std::uint8_t>(mod(bytes, std::uint8_t{7}))) == std::vector<std::uint8_t>{4, 0, 3});
}

TEST_CASE_METHOD(maths_bench, "mod of floats by an infinite number or by 0 is what Python says, or NaN") {
  const expr<double> x = vector({5, -5, 5, infinity}), y = vector({infinity, infinity, 0, 2});
  const auto rest = run(expr<double>(mod(x, y)));
  CHECK(rest[0] == 5);
  CHECK(rest[1] == infinity);
  CHECK(std::isnan(rest[2]));
  CHECK(std::isnan(rest[3]));
}

TEST_CASE_METHOD(maths_bench, "the derivatives of mod are 1 and minus the floored quotient") {
  const expr<double> x = vector({7.5, -7.5, 1}), y = vector({2, 2, -4});
  const auto rest = mod(x, y);
  CHECK(slopes(rest, x) == std::vector<double>{1, 1, 1});
  CHECK(slopes(rest, y) == std::vector<double>{-3, 4, 1});
}

TEST_CASE_METHOD(maths_bench, "is_nan, is_inf and is_finite tell what a number is") {
  const expr<double> x = vector({0, 1e308, -5e-324, infinity, -infinity, nan_value});
  const auto told = [&](const expr<bool>& y) { return run(expr<int>(cast<int>(y))); };
  CHECK(told(is_nan(x)) == std::vector<int>{0, 0, 0, 0, 0, 1});
  CHECK(told(is_inf(x)) == std::vector<int>{0, 0, 0, 1, 1, 0});
  CHECK(told(is_finite(x)) == std::vector<int>{1, 1, 1, 0, 0, 0});
  CHECK(told(logical_xor(is_nan(x), is_finite(x))) == std::vector<int>{1, 1, 1, 0, 0, 1});
  CHECK(told(logical_xor(is_nan(x), true)) == std::vector<int>{1, 1, 1, 1, 1, 0});
  CHECK(run(expr<double>(select(is_finite(x), x, 2.))) == std::vector<double>{0, 1e308, -5e-324, 2, 2, 2});
}

TEST_CASE_METHOD(maths_bench, "xlogy is 0 where its first operand is, and so are its derivatives") {
  const expr<double> x = vector({0, 0, 0, 2}), y = vector({0, nan_value, infinity, 4});
  const auto product = xlogy(x, y);
  near(run(expr<double>(product)), {0, 0, 0, 2 * std::log(4.)});
  near(slopes(product, x), {0, 0, 0, std::log(4.)});
  near(slopes(product, y), {0, 0, 0, .5});
}

TEST_CASE_METHOD(maths_bench, "huber is a parabola between two lines, and its derivatives fit at the seams") {
  const expr<double> x = vector({-3, -1, -.5, 0, .5, 1, 3});
  const auto loss = huber(x, 1.);
  CHECK(run(expr<double>(loss)) == std::vector<double>{2.5, .5, .125, 0, .125, .5, 2.5});
  CHECK(slopes(loss, x) == std::vector<double>{-1, -1, -.5, 0, .5, 1, 1});
  const auto first = std::get<0>(gradients(loss, x));
  CHECK(slopes(first, x)[3] == 1);
}

TEST_CASE_METHOD(maths_bench, "logsigmoid and softsign go on to their limits") {
  const expr<double> x = vector({-infinity, -800, 0, 800, infinity});
  near(run(expr<double>(logsigmoid(x))), {-infinity, -800, -std::log(2.), 0, 0});
  near(run(expr<double>(softsign(x))), {-1, -800. / 801, 0, 800. / 801, 1});
}

TEST_CASE_METHOD(maths_bench, "squared_difference takes any number, and functions of two operands broadcast") {
  const expr<int> rows = constant<int>({{1}, {5}}), columns = constant<int>({1, 2, 3});
  CHECK(run(expr<int>(squared_difference(rows, columns))) == std::vector<int>{0, 1, 4, 16, 9, 4});
}

TEST_CASE_METHOD(maths_bench, "sigmoid_cross_entropy_with_logits does not overflow, and its slope is sigmoid - label") {
  const expr<double> logits = vector({-1000, -1, 0, 1, 1000}), labels = vector({0, 1, .5, 0, 1});
  const auto loss = sigmoid_cross_entropy_with_logits(labels, logits);
  const double steep = 1 + std::log1p(std::exp(-1.));
  near(run(expr<double>(loss)), {0, steep, std::log(2.), steep, 0});
  const double s = 1 / (1 + std::exp(1.));
  near(slopes(loss, logits), {0, s - 1, 0, 1 - s, 0});
  CHECK(loss.name() == "logistic_loss");
}

TEST_CASE_METHOD(maths_bench, "linspace has both of its ends") {
  CHECK(run(linspace(0., 1., 5)) == std::vector<double>{0, .25, .5, .75, 1});
  const auto tenths = run(linspace(.1, -.7, 9));
  CHECK(tenths.front() == .1);
  CHECK(tenths.back() == -.7);
  CHECK(run(linspace(3., 4., 1)) == std::vector<double>{3});
  CHECK_THROWS_WITH(linspace(0., 1., 0), "linspace makes one number or more, not 0");
}

TEST_CASE_METHOD(maths_bench, "a function of a sum is one node, named after the function") {
  const expr<double> x = vector({1, 2});
  const expr<double> y = atan(x * 2. + 1.);
  CHECK(y.name() == "Atan");
  CHECK(y.op() == "Map");
  CHECK(g.peek(g.peek(y.id(g)).inputs[0].node).op == "Const");
  CHECK(expr<double>(sinh(x, "rise")).name() == "rise");
}
