// Norms, variances, logsumexp and others that are a few nodes; and functions that make or repeat elements.
#include <catch2/catch.hpp>

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include <pinion/graph.hpp>
#include <pinion/session.hpp>

#include "support/own_graph.hpp"

namespace {

using namespace pinion;

struct statistics_bench : own_graph {
  expr<double> x = constant<double>({{1, -2, 2}, {0, 0, 0}});

  template <element T>
  std::vector<T> run(const expr<T>& y) {
    session s{{.graph = &g}};
    const tensor<T> all = s.run(y);
    return {all.data(), all.data() + all.shape().count()};
  }
  std::vector<double> slopes(const expr<double>& y) { return run(expr<double>(std::get<0>(gradients(y, x)))); }
  void near(const std::vector<double>& is, const std::vector<double>& should) {
    REQUIRE(is.size() == should.size());
    for (std::size_t i = 0; i < is.size(); ++i) CHECK(is[i] == Approx(should[i]).margin(1e-14));
  }
};

}  // namespace

TEST_CASE_METHOD(statistics_bench, "norms of order 1, 2 and infinity, whose gradients are 0 where x is") {
  CHECK(run(norm(x, {.ord = 1, .axes = {1}})) == std::vector<double>{5, 0});
  near(run(norm(x, {.axes = {1}})), {3, 0});
  CHECK(run(norm(x, {.ord = HUGE_VAL, .axes = {1}})) == std::vector<double>{2, 0});
  CHECK(norm(x, {.axes = {1}, .keep_dims = true}).shape() == shape{2, 1});
  CHECK(norm(x).shape() == shape{});
  near(slopes(norm(x, {.axes = {1}})), {1. / 3, -2. / 3, 2. / 3, 0, 0, 0});
  near(slopes(norm(x, {.ord = 1, .axes = {1}})), {1, -1, 1, 0, 0, 0});
  near(slopes(norm(x, {.ord = HUGE_VAL, .axes = {1}})), {0, -.5, .5, 0, 0, 0});
  CHECK_THROWS_WITH(norm(x, {.ord = 3}), Catch::Contains("norm has ord 1, 2 or infinity, not 3"));
}

TEST_CASE_METHOD(statistics_bench, "reduce_logsumexp does not overflow, and its gradient is softmax") {
  const double e = std::exp(1.), sum = e + std::exp(-2.) + e * e;
  near(run(reduce_logsumexp(x, 1)), {std::log(sum), std::log(3.)});
  near(slopes(reduce_logsumexp(x, 1)), {e / sum, std::exp(-2.) / sum, e * e / sum, 1. / 3, 1. / 3, 1. / 3});
  CHECK(reduce_logsumexp(x).shape() == shape{});
  CHECK(reduce_logsumexp(x, {.axes = {-1}, .keep_dims = true}).shape() == shape{2, 1});
  const double infinity = std::numeric_limits<double>::infinity();
  const expr<double> huge = constant<double>({{1000, 1000}, {-infinity, -infinity}, {infinity, 0}});
  near(run(reduce_logsumexp(huge, 1)), {1000 + std::log(2.), -infinity, infinity});
  CHECK(run(reduce_logsumexp(zeros<double>({0}))) == std::vector<double>{-infinity});
}

TEST_CASE_METHOD(statistics_bench, "variances and deviations, whose gradients are 0 where all elements are equal") {
  const double mean = 1. / 3, variance = (1 + 4 + 4) / 3. - mean * mean;
  near(run(reduce_variance(x, 1)), {variance, 0});
  near(run(reduce_std(x, 1)), {std::sqrt(variance), 0});
  std::vector<double> by_x;
  for (const double v : {1., -2., 2.}) by_x.push_back((v - mean) / 3 / std::sqrt(variance));
  by_x.insert(by_x.end(), 3, 0);
  near(slopes(reduce_std(x, 1)), by_x);
  CHECK(reduce_variance(x, {.axes = {0}, .keep_dims = true}).shape() == shape{1, 3});
}

TEST_CASE_METHOD(statistics_bench, "count_nonzero counts numbers and bools") {
  CHECK(run(expr<std::int64_t>(count_nonzero(x))) == std::vector<std::int64_t>{3});
  CHECK(run(expr<std::int64_t>(count_nonzero(x > 0., {.axes = {0}}))) == std::vector<std::int64_t>{1, 0, 1});
}

TEST_CASE_METHOD(statistics_bench, "l2_loss, l2_normalize and cosine_similarity") {
  near(run(expr<double>(l2_loss(x))), {4.5});
  near(run(l2_normalize(x, {.axes = {1}})), {1. / 3, -2. / 3, 2. / 3, 0, 0, 0});
  const expr<double> y = constant<double>({{2, -4, 4}, {1, 0, 0}});
  near(run(cosine_similarity(x, y)), {1, 0});
  near(run(cosine_similarity(x, negative(y), {.axis = 1})), {-1, 0});
}

TEST_CASE_METHOD(statistics_bench, "they take variables, and operands of unknown rank") {
  const auto w = variable(tensor<double>::of({3., 4.}), {.name = "w"});
  const auto p = placeholder<double>(shape::any(), "p");
  const expr<double> length = norm(w), spread = reduce_std(p), joined = reduce_logsumexp(p);
  session s{{.graph = &g}};
  s.run(global_variables_initializer());
  CHECK(double(s.run(length)) == Approx(5));
  CHECK(double(s.run({{p, tensor<double>::of({1., 3.})}}, spread)) == Approx(1));
  CHECK(double(s.run({{p, tensor<double>::of({0., 0.})}}, joined)) == Approx(std::log(2.)));
}

TEST_CASE_METHOD(statistics_bench, "repeat puts copies beside each element, tile behind all") {
  const expr<int> v = constant<int>({{1, 2}, {3, 4}});
  CHECK(run(repeat(v, 2)) == std::vector<int>{1, 1, 2, 2, 3, 3, 4, 4});
  CHECK(run(repeat(v, 2, {.axis = 0})) == std::vector<int>{1, 2, 1, 2, 3, 4, 3, 4});
  CHECK(run(repeat(v, 2, {.axis = -1})) == std::vector<int>{1, 1, 2, 2, 3, 3, 4, 4});
  CHECK(repeat(v, 3, {.axis = 1}).shape() == shape{2, 6});
  CHECK(repeat(v, 0, {.axis = 1}).shape() == shape{2, 0});
  near(slopes(repeat(x, 3, {.axis = 0})), {3, 3, 3, 3, 3, 3});
  const auto p = placeholder<double>({unknown, unknown}, "p");
  const expr<double> twice = repeat(p, 2, {.axis = 0});
  session s{{.graph = &g}};
  const tensor<double> rows = s.run({{p, tensor<double>::of({{1., 2.}})}}, twice);
  CHECK(rows == tensor<double>::of({{1., 2.}, {1., 2.}}));
  CHECK_THROWS_WITH(repeat(v, -1), Catch::Contains("a tensor is not repeated -1 times"));
  CHECK_THROWS_WITH(repeat(v, 2, {.axis = 2}), Catch::Contains("axis 2"));
  CHECK_THROWS_WITH(repeat(placeholder<int>(), 2, {.axis = 0}), Catch::Contains("repeat needs to know how many axes"));
}

TEST_CASE_METHOD(statistics_bench, "broadcast_to repeats numbers, bools and texts, and sums its gradient") {
  const expr<int> v = constant<int>({1, 2});
  CHECK(run(expr<int>(broadcast_to(v, {2, 2}))) == std::vector<int>{1, 2, 1, 2});
  CHECK(run(expr<int>(broadcast_to(constant<int>({{1}, {2}}), {2, 2}))) == std::vector<int>{1, 1, 2, 2});
  CHECK(run(expr<std::string>(broadcast_to(constant(std::string("a")), {2}))) == std::vector<std::string>{"a", "a"});
  CHECK(run(expr<int>(broadcast_to(v, {0, 2}))).empty());
  near(slopes(broadcast_to(x, {4, 2, 3})), {4, 4, 4, 4, 4, 4});
}

TEST_CASE_METHOD(statistics_bench, "triangles, bands and unit matrices") {
  const expr<int> m = constant<int>({{1, 2, 3}, {4, 5, 6}, {7, 8, 9}});
  CHECK(run(expr<int>(tril(m))) == std::vector<int>{1, 0, 0, 4, 5, 0, 7, 8, 9});
  CHECK(run(expr<int>(tril(m, -1))) == std::vector<int>{0, 0, 0, 4, 0, 0, 7, 8, 0});
  CHECK(run(expr<int>(triu(m, 1))) == std::vector<int>{0, 2, 3, 0, 0, 6, 0, 0, 0});
  CHECK(run(expr<int>(band_part(m, 0, -1))) == std::vector<int>{1, 2, 3, 0, 5, 6, 0, 0, 9});
  CHECK(run(expr<int>(band_part(m, 1, 0))) == std::vector<int>{1, 0, 0, 4, 5, 0, 0, 8, 9});
  CHECK(run(expr<float>(eye<float>(2, 3))) == std::vector<float>{1, 0, 0, 0, 1, 0});
  near(slopes(triu(x)), {1, 1, 1, 0, 1, 1});
}

TEST_CASE_METHOD(statistics_bench, "zeros_like and ones_like have the shape that their operand has in the step") {
  const auto p = placeholder<int>(shape::any(), "p");
  const expr<int> zero = zeros_like(p), one = ones_like(p);
  session s{{.graph = &g}};
  CHECK(s.run({{p, tensor<int>::of({5, 6})}}, zero) == tensor<int>::of({0, 0}));
  CHECK(s.run({{p, tensor<int>::of({5, 6})}}, one) == tensor<int>::of({1, 1}));
}

TEST_CASE_METHOD(statistics_bench, "NaN counts as the least in argmin, as it does as the greatest in argmax") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const expr<double> v = constant<double>({{3, 1, 1}, {2, nan, -5}});
  CHECK(run(expr<std::int64_t>(argmin(v, 1))) == std::vector<std::int64_t>{1, 1});
  CHECK(run(expr<std::int64_t>(argmin(v))) == std::vector<std::int64_t>{1, 1, 1});
}
