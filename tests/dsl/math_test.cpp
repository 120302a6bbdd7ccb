// Elementwise functions where they are delicate: NaN, kinks, bools; and programs near the bounds of a node.
#include <catch2/catch.hpp>

#include <cmath>
#include <limits>
#include <string>

#include <pinion/graph.hpp>
#include <pinion/scalar/compiled.hpp>
#include <pinion/session.hpp>

#include "support/caught.hpp"
#include "support/own_graph.hpp"

namespace {

using namespace pinion;

template <class T>
constexpr T nan_of = std::numeric_limits<T>::quiet_NaN();

struct bench : own_graph {
  template <class T>
  std::string text(const expr<T>& e) {
    session s{{.graph = &g}};
    return to_string(s.run(e));
  }
  // The gradient of f at some points, as text.
  template <class F>
  std::string slopes(F f, std::initializer_list<float> points) {
    const expr<float> x =
        constant(tensor<float>({static_cast<std::int64_t>(points.size())}, std::vector<float>(points)));
    return text(std::get<0>(gradients(expr<float>(f(x)), x)));
  }
};

// More instructions than a program of the compiler's has room for, if something else stands beside it.
struct long_polynomial {
  static constexpr int arity = 1;
  template <class V>
  static constexpr auto apply(V x) {
    V y = x * x;
    for (int i = 0; i < 50; ++i) {
      const V product = y * x;
      y = product + x;
    }
    return y;
  }
};

}  // namespace

TEMPLATE_TEST_CASE("NaN wins in maximum and minimum, on either side and in every lane", "", float, double) {
  bench b;
  const auto filled = [](TestType first, TestType value) {
    tensor<TestType> t({37});
    for (std::int64_t i = 0; i < 37; ++i) t(i) = i == 0 ? first : value;
    return t;
  };
  const expr<TestType> ones = constant(filled(1, 1)), nans = constant(filled(2, nan_of<TestType>));
  session s{{.graph = &b.g}};
  for (const expr<TestType>& y : {expr<TestType>(maximum(ones, nans)), expr<TestType>(maximum(nans, ones)),
                                  expr<TestType>(minimum(ones, nans)), expr<TestType>(minimum(nans, ones))}) {
    const auto value = s.run(y);
    CHECK(!std::isnan(value(0)));
    for (std::int64_t i = 1; i < 37; ++i) CHECK(std::isnan(value(i)));
  }
  const TestType number = 3;
  CHECK(std::isnan(TestType(s.run(reduce_min(maximum(nans, number))))));
  CHECK(std::isnan(TestType(s.run(reduce_min(minimum(number, nans))))));
  CHECK(std::isnan(TestType(s.run(reduce_max(relu(nans))))));
  CHECK(std::isnan(TestType(s.run(reduce_max(sign(nans))))));
  CHECK(std::isnan(TestType(s.run(reduce_max(softplus(nans))))));
  CHECK(std::isnan(TestType(s.run(reduce_max(elu(nans))))));
}

// TensorFlow: relu, elu by their own gradient ops; the first of equal operands takes all of a maximum or minimum.
TEST_CASE("at a kink the gradient is TensorFlow's") {
  bench b;
  CHECK(b.slopes([](auto x) { return relu(x); }, {-1, -0.f, 0, 2}) == "[0, 0, 0, 1]");
  CHECK(b.slopes([](auto x) { return maximum(x, 0.f); }, {-1, 0, 2}) == "[0, 1, 1]");
  CHECK(b.slopes([](auto x) { return maximum(0.f, x); }, {-1, 0, 2}) == "[0, 0, 1]");
  CHECK(b.slopes([](auto x) { return minimum(x, 0.f); }, {-1, 0, 2}) == "[1, 1, 0]");
  CHECK(b.slopes([](auto x) { return elu(x); }, {0, 2}) == "[1, 1]");
  CHECK(b.slopes([](auto x) { return abs(x); }, {-1, 0, 2}) == "[-1, 0, 1]");
  CHECK(b.slopes([](auto x) { return sign(x) * x; }, {-1, 0, 2}) == "[-1, 0, 1]");
  CHECK(b.slopes([](auto x) { return reduce_max(x); }, {1, 3, 3}) == "[0, 0.5, 0.5]");
}

TEST_CASE("relu of integers is that of numbers") {
  bench b;
  const expr<int> x = constant<int>({-3, 0, 4});
  CHECK(b.text(expr<int>(relu(x))) == "[0, 0, 4]");
}

TEST_CASE("bools are chosen by bools, compared, and cast to bools") {
  bench b;
  const expr<bool> c = constant<bool>({true, true, false, false}), x = constant<bool>({true, false, true, false}),
                   y = constant<bool>({false, true, true, false});
  CHECK(b.text(expr<bool>(select(c, x, y))) == "[true, false, true, false]");
  CHECK(b.text(expr<bool>(select(c, true, y))) == "[true, true, true, false]");
  CHECK(b.text(expr<bool>(select(c, y, false))) == "[false, true, false, false]");
  CHECK(b.text(expr<bool>(x == y)) == "[false, false, true, true]");
  CHECK(b.text(expr<bool>(x != y)) == "[true, true, false, false]");
  CHECK(b.text(expr<bool>(x == true)) == "[true, false, true, false]");
  CHECK(b.text(expr<bool>(false != y)) == "[false, true, true, false]");
  CHECK(b.text(expr<bool>(cast<bool>(x))) == "[true, false, true, false]");
  CHECK(b.text(expr<bool>(equal(x, y))) == "[false, false, true, true]");
}

TEST_CASE("comparisons that were fused are chosen from, and compared, as others") {
  bench b;
  const expr<float> x = constant<float>({-1, 0, 2});
  const expr<std::uint8_t> u = constant<std::uint8_t>({1, 2, 3});
  CHECK(b.text(expr<bool>(select(x > 0.f, x > 1.f, x < 0.f))) == "[true, false, true]");
  CHECK(b.text(expr<bool>((x > 0.f) == (u > 1))) == "[true, false, true]");
  CHECK(b.text(expr<bool>((u > 1) != (u > 2))) == "[false, true, false]");
  CHECK(b.text(expr<bool>((u > 1) && (u > 2))) == "[false, false, true]");
  CHECK(b.text(expr<bool>(((x > 0.f) == (u > 1)) || (u > 1))) == "[true, true, true]");
  CHECK(b.text(expr<float>(select((x > 0.f) == (x < 5.f), x, 9.f))) == "[9, 9, 2]");
}

TEMPLATE_TEST_CASE("numbers of every dtype are chosen", "", float, double, std::int32_t, std::int64_t, std::uint8_t) {
  bench b;
  const expr<bool> c = constant<bool>({true, false});
  const expr<TestType> x = constant<TestType>({1, 2}), y = constant<TestType>({3, 4});
  CHECK(b.text(expr<TestType>(select(c, x, y))) == "[1, 4]");
  CHECK(b.text(expr<TestType>(select(c, x, TestType(7)))) == "[1, 7]");
}

TEST_CASE("texts are chosen, broadcast as numbers are") {
  bench b;
  const expr<bool> c = constant<bool>({true, false, true});
  const expr<std::string> x = constant<std::string>({{"a", "b", "c"}, {"d", "e", "f"}}),
                          y = constant(std::string("none"));
  CHECK(b.text(expr<std::string>(select(c, x, y))) == "[[\"a\", \"none\", \"c\"], [\"d\", \"none\", \"f\"]]");
}

TEST_CASE("braces mean a rank: one element in them is a vector") {
  bench b;
  CHECK(constant<int>({2}).shape() == shape{1});
  CHECK(constant<float>({2}).shape() == shape{1});
  CHECK(constant<int>({1, 0}).shape() == shape{2});
  CHECK(constant<int>({{1}, {2}}).shape() == shape{2, 1});
  CHECK(constant<int>({{2}}).shape() == shape{1, 1});
  CHECK(constant<float>({}).shape() == shape{0});
  CHECK(constant<float>({{}, {}}).shape() == shape{2, 0});
  CHECK(constant<bool>({true}, "flag").shape() == shape{1});
  CHECK(constant<int>(2).shape() == shape{});
  CHECK(constant(4.0f, "b").shape() == shape{});
  CHECK(b.text(expr<std::string>(constant<std::string>({"a", "b"}))) == "[\"a\", \"b\"]");
  CHECK(constant<std::string>({"a"}).shape() == shape{1});
  CHECK(constant<double>({1, 2.5}).shape() == shape{2});
}

TEST_CASE("a functor with no room beside it takes its operands as they stand") {
  bench b;
  const expr<double> x = constant(.5);
  const expr<double> y = map<long_polynomial>(sin(x) * exp(x) + 1.0), same = sin(x) * exp(x) + 1.0;
  const expr<double> apart = map<long_polynomial>(same);
  auto [dy] = gradients(y, x);
  auto [d_apart] = gradients(apart, x);
  session s{{.graph = &b.g}};
  CHECK(double(s.run(y)) == Approx(double(s.run(apart))));
  CHECK(double(s.run(dy)) == Approx(double(s.run(d_apart))));
}

TEST_CASE("a derivative of more instructions than the compiler has room for is made when it is asked for") {
  bench b;
  const expr<double> x = constant(1.1);
  const expr<double> y = pow(pow(pow(pow(x, 1.1), pow(x, .9)), pow(x, 1.2)) * pow(x, .3),
                             pow(pow(x, .8), pow(x, .7)) * pow(x, 1.3) * pow(x, x)) *
                         pow(x, x + pow(x, pow(x, x)));
  auto [dy] = gradients(y, x);
  const double h = 1e-6;
  session s{{.graph = &b.g}};
  const auto f = [&](double at) { return double(s.run({{x, at}}, y)); };
  CHECK(double(s.run(dy)) == Approx((f(1.1 + h) - f(1.1 - h)) / (2 * h)).epsilon(1e-6));
}
