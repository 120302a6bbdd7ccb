// Random numbers of gamma and Poisson distributions: their moments and distribution functions, seeds, and limits.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <pinion/graph.hpp>
#include <pinion/op/distribution/draws.hpp>
#include <pinion/op/distribution/functions.hpp>
#include <pinion/session.hpp>

#include "support/caught.hpp"
#include "support/own_session.hpp"

namespace {

using namespace pinion;

constexpr std::int64_t many_draws = 40000;
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

struct distribution_fixture : own_session {
  template <class T>
  std::vector<double> draw(const expr<T>& x) {
    const tensor<T> all = sess.run(x);
    return {all.data(), all.data() + all.size()};
  }
};

struct moments_of {
  double mean = 0, variance = 0;
  explicit moments_of(const std::vector<double>& x) {
    for (const double v : x) mean += v / static_cast<double>(x.size());
    for (const double v : x) variance += (v - mean) * (v - mean) / static_cast<double>(x.size());
  }
};

// The distribution function of a gamma variable of scale 1, by the series of the incomplete gamma function.
double gamma_below(double alpha, double x) {
  double term = std::exp(alpha * std::log(x) - x - std::lgamma(alpha + 1)), sum = term;
  for (int k = 1; k < 2000; ++k) sum += term *= x / (alpha + k);
  return std::min(sum, 1.0);
}

// The probability of at most k for a Poisson variable.
double poisson_up_to(double rate, double k) {
  double sum = 0;
  for (double i = 0; i <= k; ++i) sum += std::exp(i * std::log(rate) - rate - std::lgamma(i + 1));
  return sum;
}

// The greatest distance between a distribution function and that of the sample (Kolmogorov). Below 1.63 / sqrt(n) in 99
// of 100 samples.
template <class F>
double distance_to(std::vector<double> x, F&& below) {
  std::sort(x.begin(), x.end());
  const auto n = static_cast<double>(x.size());
  double most = 0;
  for (std::size_t i = 0; i < x.size(); i += 16) {
    const auto at = static_cast<double>(i);
    most = std::max({most, below(x[i]) - at / n, (at + 1) / n - below(x[i])});
  }
  return most;
}

}  // namespace

TEST_CASE_METHOD(distribution_fixture, "gamma variables have the moments and the distribution of their alpha") {
  for (const double alpha : {.3, 1., 2.5, 40.}) {
    INFO(alpha);
    const auto x = draw(random_gamma({many_draws}, alpha, {.seed = 5}));
    const moments_of m(x);
    CHECK(m.mean == Approx(alpha).epsilon(.03));
    CHECK(m.variance == Approx(alpha).epsilon(.06));
    CHECK(distance_to(x, [&](double v) { return gamma_below(alpha, v); }) < 1.63 / std::sqrt(double(many_draws)));
  }
}

TEST_CASE_METHOD(distribution_fixture, "Poisson variables have the moments and the distribution of their rate") {
  for (const double rate : {.2, 3., 9.9, 10., 55., 400.}) {
    INFO(rate);
    const auto x = draw(random_poisson({many_draws}, rate, {.seed = 5}));
    const moments_of m(x);
    CHECK(m.mean == Approx(rate).epsilon(.03));
    CHECK(m.variance == Approx(rate).epsilon(.06));
    for (const double k : {std::floor(rate / 2), std::floor(rate), std::floor(rate + std::sqrt(rate))}) {
      const auto up_to = std::count_if(x.begin(), x.end(), [&](double v) { return v <= k; });
      CHECK(double(up_to) / double(many_draws) == Approx(poisson_up_to(rate, k)).margin(.0085));
    }
    CHECK(std::all_of(x.begin(), x.end(), [](double v) { return v >= 0 && v == std::floor(v); }));
  }
}

TEST_CASE("the logarithm of a Poisson probability is exact for small and for large numbers") {
  const auto plain = [](double k, double rate) { return k * std::log(rate) - rate - std::lgamma(k + 1); };
  for (const double k : {0., 1., 9., 10., 11., 100., 5000.})
    for (const double rate : {10., 90., 5100.})
      CHECK(op::detail::distribution::log_mass(k, rate) == Approx(plain(k, rate)).epsilon(1e-10));
}

TEST_CASE_METHOD(distribution_fixture, "rates of any size are drawn, integers end where their dtype does") {
  const auto x = draw(random_poisson({1000}, 1e15, {.seed = 2}));
  const moments_of m(x);
  CHECK(m.mean == Approx(1e15).epsilon(1e-8));
  CHECK(std::sqrt(m.variance) == Approx(std::sqrt(1e15)).epsilon(.1));
  CHECK(draw(random_poisson<int>({1}, 1e15, {.seed = 2}))[0] == std::numeric_limits<int>::max());
  const double inf = std::numeric_limits<double>::infinity();
  CHECK(draw(random_poisson({1}, inf))[0] == inf);
  CHECK(draw(random_poisson<int>({1}, inf))[0] == std::numeric_limits<int>::max());
}

TEST_CASE_METHOD(distribution_fixture, "each parameter has a tensor of draws, the parameters stand behind") {
  const auto alpha = constant<float>({1, 100, 10000});
  const auto x = random_gamma({500, 2}, alpha, {.seed = 1});
  REQUIRE(x.shape() == shape{500, 2, 3});
  const auto all = draw(x);
  for (std::size_t i = 0; i < all.size(); ++i) CHECK((all[i] < 40) == (i % 3 == 0));
  CHECK(random_poisson({}, alpha).shape() == shape{3});
  CHECK(random_gamma({4}, placeholder<float>({unknown, 2}, "a")).shape() == shape{4, unknown, 2});
}

TEST_CASE_METHOD(distribution_fixture, "beta divides, broadcasts with alpha, and has a gradient") {
  const auto beta = constant<double>({{2}, {4}});
  const auto x = random_gamma({3}, constant<double>({1, 2, 3}), {.beta = beta, .seed = 9});
  REQUIRE(x.shape() == shape{3, 2, 3});
  const auto plain = random_gamma({3}, constant<double>({{1, 2, 3}, {1, 2, 3}}), {.seed = 9});
  const auto [slope] = gradients(x, beta);
  const auto [a, b, s] = sess.run(x, plain, slope);
  double of_first = 0;
  for (std::size_t i = 0; i < 18; ++i) {
    CHECK(a.span()[i] == b.span()[i] / (i / 3 % 2 == 0 ? 2 : 4));
    if (i / 3 % 2 == 0) of_first -= b.span()[i] / 4;
  }
  CHECK(s.span()[0] == Approx(of_first));
  CHECK(draw(random_gamma({2}, 3., {.beta = 2, .seed = 4}))[1] == draw(random_gamma({2}, 3., {.seed = 4}))[1] / 2);
}

TEST_CASE_METHOD(distribution_fixture, "a seed yields the same numbers with any number of threads") {
  const auto x = random_gamma({5000}, constant<float>({.5, 2}), {.seed = 3});
  const auto y = random_poisson<std::int64_t>({5000}, constant<double>({2, 30}), {.seed = 3});
  session one({.graph = &g, .intra_op_threads = 1}), four({.graph = &g, .intra_op_threads = 4});
  for (int run = 0; run < 2; ++run) {
    const auto [x1, y1] = one.run(x, y);
    const auto [x4, y4] = four.run(x, y);
    CHECK(x1 == x4);
    CHECK(y1 == y4);
  }
  CHECK_FALSE(draw(x) == draw(x));
}

TEST_CASE_METHOD(distribution_fixture, "an element depends on its place, not on the size of the tensor") {
  const auto few = draw(random_poisson({7}, 20., {.seed = 1})), many = draw(random_poisson({70}, 20., {.seed = 1}));
  CHECK(std::equal(few.begin(), few.end(), many.begin()));
}

TEST_CASE_METHOD(distribution_fixture, "parameters that are negative or NaN yield NaN, and integers fail the step") {
  const auto bad = constant<double>({-1, not_a_number, 0});
  const auto x = draw(random_gamma({}, bad)), y = draw(random_poisson({}, bad));
  CHECK((std::isnan(x[0]) && std::isnan(x[1])));
  CHECK(x[2] == std::numeric_limits<double>::min());
  CHECK((std::isnan(y[0]) && std::isnan(y[1]) && y[2] == 0));
  const std::string said = failure([&] { sess.run(random_poisson<int>({}, bad)); });
  CHECK(said.starts_with("invalid_argument: integers of the rate -1 at place 0; it is at least 0"));
}

TEST_CASE_METHOD(distribution_fixture, "small alphas yield the least number of the dtype, whose logarithm is finite") {
  for (const double v : draw(random_gamma({1000}, 1e-4f, {.seed = 1}))) CHECK(v >= std::numeric_limits<float>::min());
}

TEST_CASE_METHOD(distribution_fixture, "what cannot be drawn is refused where it is written") {
  CHECK(failure([] { random_gamma({2}, 1., {.beta = 0}); }) ==
        "invalid_argument: random_gamma with beta 0; it must be positive");
  CHECK(failure([] { random_gamma({2}, 1., {.beta = constant(1.f)}); }) ==
        "invalid_argument: random_gamma has an alpha of double and a beta of float; pn::cast converts one of them");
  CHECK(caught([] { random_poisson({unknown}, 1.); }).code() == errc::invalid_argument);
  const auto alpha = constant(2.);
  CHECK(caught([&] { gradients(random_gamma({2}, alpha), alpha); }).code() == errc::unimplemented);
}
