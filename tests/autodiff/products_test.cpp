// Derivatives of products of any order, with zeros among the factors, beside plain loops and products of scalars.
#include <catch2/catch.hpp>

#include <limits>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include <pinion/graph.hpp>
#include <pinion/session.hpp>

#include "support/caught.hpp"
#include "support/own_session.hpp"

namespace {

using namespace pinion;

using numbers = std::vector<double>;

// The sum, over all ways to choose an element for each weight, no two the same, of the weights there and the other x.
double weighted(const numbers& x, const std::vector<numbers>& weights, std::vector<bool> chosen = {},
                std::size_t next = 0) {
  chosen.resize(x.size());
  if (next == weights.size()) {
    double product = 1;
    for (std::size_t i = 0; i < x.size(); ++i)
      if (!chosen[i]) product *= x[i];
    return product;
  }
  double sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (chosen[i]) continue;
    chosen[i] = true;
    sum += weights[next][i] * weighted(x, weights, chosen, next + 1);
    chosen[i] = false;
  }
  return sum;
}

// Small whole numbers, so that sums of products are exact.
numbers directions(std::size_t n, int order) {
  numbers w;
  for (std::size_t i = 0; i < n; ++i)
    w.push_back(static_cast<double>((i * 7 + static_cast<std::size_t>(order) * 5) % 11) - 4);
  return w;
}

// The derivatives of a product along one direction after the other.
void check_directions(const numbers& at, int orders) {
  graph g;
  const auto use = g.as_default();
  const expr<double> x = placeholder<double>({unknown}, "x");
  expr<double> y = reduce_prod(x);
  std::vector<numbers> weights;
  session s{{.graph = &g}};
  for (int k = 1; k <= orders; ++k) {
    weights.push_back(directions(at.size(), k));
    y = reduce_sum(std::get<0>(gradients(y, x)) * constant(weights.back()));
    INFO("order " << k << " of " << at.size() << " factors");
    CHECK(double(s.run({{x, at}}, y)) == weighted(at, weights));
  }
}

// The sums of all derivatives of f(x0 x1 x2), up to order four, as of one op or of two.
template <class Product>
numbers sums_of_orders(const numbers& at, Product product_of) {
  graph g;
  const auto use = g.as_default();
  const expr<double> x = placeholder<double>({3}, "x");
  expr<double> y = sin(product_of(tanh(x)) * 2.0 + x);
  numbers all;
  session s{{.graph = &g}};
  for (int k = 1; k <= 4; ++k) {
    y = std::get<0>(gradients(y, x)) * constant<double>({1, -2, 3});
    all.push_back(double(s.run({{x, at}}, reduce_sum(y))));
  }
  return all;
}

const auto by_one_op = [](const expr<double>& x) { return expr<double>(reduce_prod(x)); };
const auto by_scalars = [](const expr<double>& x) {
  const auto [a, b, c] = split<3>(x, 0);
  return expr<double>(reshape(a * b * c, {}));
};

void check_beside_scalars(const numbers& at) {
  const numbers got = sums_of_orders(at, by_one_op), want = sums_of_orders(at, by_scalars);
  for (std::size_t k = 0; k < want.size(); ++k) {
    INFO("order " << k + 1);
    CHECK(got[k] == Approx(want[k]).margin(1e-12));
  }
}

// The derivatives of all cumulative products of `at`, weighted by 1, 2, ..., along one direction after the other.
void check_cumulative(const numbers& at, const cumulative_options& options) {
  graph g;
  const auto use = g.as_default();
  const expr<double> x = placeholder<double>({unknown}, "x");
  numbers by_place(at.size());
  std::iota(by_place.begin(), by_place.end(), 1);
  expr<double> y = reduce_sum(cumprod(x, 0, options) * constant(by_place));
  std::vector<numbers> weights;
  session s{{.graph = &g}};
  for (int order = 1; order <= 3; ++order) {
    weights.push_back(directions(at.size(), order));
    y = reduce_sum(std::get<0>(gradients(y, x)) * constant(weights.back()));
    const auto n = static_cast<std::ptrdiff_t>(at.size());
    double want = 0;
    for (std::ptrdiff_t k = 0; k < n; ++k) {
      const std::ptrdiff_t first = !options.reverse ? 0 : options.exclusive ? k + 1 : k;
      const std::ptrdiff_t last = options.reverse ? n : options.exclusive ? k : k + 1;
      const auto factors = [&](const numbers& all) { return numbers(all.begin() + first, all.begin() + last); };
      std::vector<numbers> of_factors;
      for (const numbers& w : weights) of_factors.push_back(factors(w));
      want += by_place[static_cast<std::size_t>(k)] * weighted(factors(at), of_factors);
    }
    INFO("order " << order << (options.exclusive ? ", exclusive" : "") << (options.reverse ? ", reverse" : ""));
    CHECK(double(s.run({{x, at}}, y)) == want);
  }
}

}  // namespace

TEST_CASE("the derivatives of cumulative products are exact beside zeros, in every order and either direction") {
  for (const bool exclusive : {false, true})
    for (const bool reverse : {false, true})
      for (const numbers& at : {numbers{2, 3, 5, 1}, numbers{2, 0, 5, 4}, numbers{0, 3, 0, 2}, numbers{0}})
        check_cumulative(at, {.exclusive = exclusive, .reverse = reverse});
}

TEST_CASE("a product has derivatives of any order, in every direction") {
  check_directions({2, -3, 5, 1, 4, -2}, 6);
  check_directions({3, 2}, 4);
  check_directions({7}, 3);
}

TEST_CASE("the derivatives of a product with zeros among its factors are exact") {
  check_directions({2, 0, 5, 1, 4}, 5);
  check_directions({2, 0, 5, 0, 4}, 5);
  check_directions({0, 0, 0, 3, 0}, 5);
  check_directions({0}, 2);
}

TEST_CASE("the derivatives of what is made of a product are those of its factors multiplied one by one") {
  check_beside_scalars({.4, -.7, 1.1});
  check_beside_scalars({.4, 0, 1.1});
  check_beside_scalars({0, 0, 1.1});
}

TEST_CASE("a product of rows is differentiated row by row, in every order") {
  graph g;
  const auto use = g.as_default();
  const expr<double> x = placeholder<double>({unknown, unknown}, "x");
  for (const bool keep : {false, true}) {
    expr<double> y = reduce_prod(x, {.axes = {1}, .keep_dims = keep});
    const numbers one(3, 1);
    session s{{.graph = &g}};
    for (int k = 1; k <= 3; ++k) {
      y = std::get<0>(gradients(y, x));
      const std::vector<numbers> ones(static_cast<std::size_t>(k), one);
      const double sum = weighted({2, 0, 3}, ones) + weighted({0, 0, 5}, ones);
      CHECK(double(s.run({{x, {{2, 0, 3}, {0, 0, 5}}}}, reduce_sum(y))) == sum);
    }
  }
}

TEST_CASE("an infinite factor leaves derivatives finite that it is no factor of") {
  const double inf = std::numeric_limits<double>::infinity();
  graph g;
  const auto use = g.as_default();
  const expr<double> x = placeholder<double>({2}, "x");
  const auto [first] = gradients(reduce_prod(x), x);
  const auto [second] = gradients(first * constant<double>({3, 5}), x);
  session s{{.graph = &g}};
  const tensor<double> y = s.run({{x, tensor<double>::of({2, inf})}}, second);
  CHECK(y(0) == 5);
  CHECK(y(1) == 3);
}

TEST_CASE_METHOD(own_session, "an order of a product that no memory would hold is refused with the highest there is") {
  const expr<double> x = placeholder<double>({unknown}, "x");
  expr<double> y = reduce_prod(x);
  for (int k = 1; k <= 21; ++k) y = std::get<0>(gradients(y, x));
  CHECK(double(sess.run({{x, {1, 2, 3}}}, reduce_sum(y))) == 0);
  CHECK(failure([&] { gradients(y, x); }).find("a derivative of order 22 of a product; 21 is the highest") !=
        std::string::npos);
}
