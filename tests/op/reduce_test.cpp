// Reductions against plain loops in double.
#include <catch2/catch.hpp>

#include <cmath>
#include <limits>

#include <pinion/op/elementwise/functions.hpp>
#include <pinion/op/reduce/functions.hpp>
#include <pinion/op/source/functions.hpp>

#include "support/kernel_bench.hpp"

namespace {

using namespace pinion;
using kernel_bench::numbers;
using kernel_bench::of;
using kernel_bench::random;
using kernel_bench::run;

constexpr double infinity = std::numeric_limits<double>::infinity();
const float nan_value = std::numeric_limits<float>::quiet_NaN();

// The plain form: every element goes to the one of the result that has its kept coordinates.
std::vector<double> folded(std::string_view op, const any_tensor& x, const integers& axes) {
  const auto reduced = [&](int axis) {
    return std::any_of(axes.begin(), axes.end(), [&](auto a) { return (a < 0 ? a + x.shape().rank() : a) == axis; });
  };
  std::int64_t results = 1, n = 1;
  for (int i = 0; i < x.shape().rank(); ++i) (reduced(i) ? n : results) *= x.shape()[i];
  const double start = op == "Prod" ? 1 : op == "Max" ? -infinity : op == "Min" ? infinity : 0;
  std::vector<double> y(static_cast<std::size_t>(results), start);
  const std::vector<double> values = numbers(x);
  for (std::int64_t e = 0; e < x.count(); ++e) {
    std::int64_t rest = e, at = 0, stride = 1;
    for (int i = x.shape().rank() - 1; i >= 0; rest /= x.shape()[i--]) {
      if (reduced(i)) continue;
      at += rest % x.shape()[i] * stride;
      stride *= x.shape()[i];
    }
    const double v = values[static_cast<std::size_t>(e)];
    double& to = y[static_cast<std::size_t>(at)];
    to = op == "Prod" ? to * v : op == "Max" ? std::max(to, v) : op == "Min" ? std::min(to, v) : to + v;
  }
  if (op == "Mean")
    for (double& v : y) v /= static_cast<double>(n);
  return y;
}

std::vector<double> reduced(std::string_view op, const any_tensor& x, const integers& axes) {
  return numbers(run(op, {x}, {{"axes", axes}})[0]);
}

void check_close(const std::vector<double>& y, const std::vector<double>& expected, double error) {
  REQUIRE(y.size() == expected.size());
  double worst = 0;
  for (std::size_t i = 0; i < y.size(); ++i)
    worst = std::max(worst, std::abs(y[i] - expected[i]) / std::max(1.0, std::abs(expected[i])));
  CHECK(worst <= error);
}

const std::vector<std::string_view> reductions{"Sum", "Mean", "Max", "Min", "Prod"};

}  // namespace

TEMPLATE_TEST_CASE("a reduction over any axes is that of plain loops", "", float, double, std::int32_t, std::int64_t) {
  struct row {
    shape x;
    integers axes;
  };
  const std::vector<row> table{
      {{7}, {0}},
      {{50, 10}, {1}},
      {{50, 10}, {0}},
      {{50, 160}, {0}},
      {{3, 1000}, {-1}},
      {{1000, 3}, {0}},
      {{4, 5, 6}, {1}},
      {{4, 5, 6}, {0, 2}},
      {{4, 5, 6}, {2, 0}},
      {{4, 5, 6}, {0, 1, 2}},
      {{2, 3, 1, 5}, {2}},
      {{2, 3, 4, 5}, {1, 3}},
      {{2, 3, 4, 5}, {0, 2}},
      {{1, 1}, {0}},
      {{5, 70, 3}, {-2}},
      {{3, 600, 33}, {1}},
      {{2, 2, 1100}, {0}},
      {{6}, {}},
      {{}, {}},
      {{2, 129}, {1}},
  };
  for (const auto& [extent, axes] : table) {
    const any_tensor x = random<TestType>(extent);
    for (const std::string_view op : reductions) {
      if (std::is_integral_v<TestType> && (op == "Mean" || op == "Prod")) continue;
      INFO(op << " of " << to_string(extent));
      check_close(reduced(op, x, axes), folded(op, x, axes), sizeof(TestType) == 4 ? 2e-5 : 1e-13);
    }
  }
}

TEST_CASE("the axis of a reduction may be given as a number, and braces without anything are no axis") {
  graph g;
  const auto use = g.as_default();
  const auto x = constant<float>({{1, 2}, {3, 5}});
  CHECK(reduce_sum(x, 1).shape() == shape{2});
  CHECK(reduce_max(x, -2).shape() == shape{2});
  CHECK(reduce_all(x > 0.f, std::int64_t{0}).shape() == shape{2});
  CHECK(reduce_sum(x, {}).shape() == shape{});
}

TEST_CASE("without axes all are reduced, to a scalar or to extents of 1") {
  const any_tensor x = random<float>({3, 4, 5});
  const any_tensor y = run("Sum", {x})[0], kept = run("Sum", {x}, {{"keep_dims", true}})[0];
  CHECK(y.shape() == shape{});
  CHECK(kept.shape() == shape{1, 1, 1});
  CHECK(numbers(y) == numbers(kept));
  CHECK(run("Max", {x}, {{"axes", integers{1}}, {"keep_dims", true}})[0].shape() == shape{3, 1, 5});
}

TEST_CASE("a sum of a million floats is right to five digits") {
  any_tensor x(dtype::float32, {1 << 20});
  std::fill_n(x.data<float>(), x.count(), 0.1f);
  const double exact = (1 << 20) * double(0.1f);
  CHECK(numbers(run("Sum", {x})[0])[0] == Approx(exact).epsilon(5e-6));
  CHECK(numbers(run("Sum", {x.reshaped({1 << 19, 2})}, {{"axes", integers{0}}})[0])[1] ==
        Approx(exact / 2).epsilon(5e-6));
}

TEST_CASE("the number of threads changes no bit") {
  for (const shape& extent : {shape{300000}, shape{2000, 170}, shape{17, 40, 700}, shape{3, 200000}})
    for (const std::string_view op : reductions)
      for (const std::int64_t axis : {0, -1}) {
        const any_tensor x = random<float>(extent);
        const attributes attrs{{"axes", integers{axis}}};
        CHECK(kernel_bench::same_bits(run(op, {x}, attrs)[0], run(op, {x}, attrs, {.threads = 3})[0]));
      }
}

TEST_CASE("a reduction touches elements only in what it launches") {
  for (const std::string_view op : reductions) {
    const any_tensor x = random<float>({4, 5, 600});
    const attributes attrs{{"axes", integers{0, 2}}};
    CHECK(kernel_bench::same_bits(run(op, {x}, attrs)[0], run(op, {x}, attrs, kernel_bench::on_stream)[0]));
  }
  const any_tensor x = random<float>({4, 5});
  CHECK(run("ArgMax", {x}, {{"axis", std::int64_t{1}}})[0] ==
        run("ArgMax", {x}, {{"axis", std::int64_t{1}}}, kernel_bench::on_stream)[0]);
}

TEST_CASE("a mean of integers does not overflow, and is rounded towards zero") {
  constexpr std::int32_t most = std::numeric_limits<std::int32_t>::max();
  constexpr std::int64_t wide = std::numeric_limits<std::int64_t>::max();
  CHECK(run("Mean", {of<std::int32_t>({2}, {most, most})})[0].data<std::int32_t>()[0] == most);
  CHECK(run("Mean", {of<std::int64_t>({3}, {wide, wide, wide})})[0].data<std::int64_t>()[0] == wide);
  CHECK(run("Mean", {of<std::int64_t>({2}, {-wide - 1, -wide - 1})})[0].data<std::int64_t>()[0] == -wide - 1);
  CHECK(numbers(run("Mean", {of<std::int32_t>({2, 2}, {-1, -2, 1, 2})}, {{"axes", integers{1}}})[0]) ==
        std::vector<double>{-1, 1});
  CHECK(numbers(run("Mean", {of<std::uint8_t>({2, 2}, {255, 254, 255, 1})}, {{"axes", integers{0}}})[0]) ==
        std::vector<double>{255, 127});
  CHECK(numbers(run("Mean", {of<std::uint8_t>({2, 2}, {255, 255, 255, 255})}, {{"keep_dims", true}})[0]) ==
        std::vector<double>{255});
  CHECK(numbers(run("Mean", {of<std::int32_t>({2, 0}, {})}, {{"axes", integers{1}}})[0]) == std::vector<double>{0, 0});
  CHECK(numbers(run("Mean", {of<std::int32_t>({0, 2}, {})}, {{"axes", integers{0}}})[0]) == std::vector<double>{0, 0});
  CHECK(numbers(run("Mean", {of<std::int64_t>({0, 2}, {})}, {{"axes", integers{1}}})[0]).empty());
}

TEST_CASE("NaN wins in max and min, wherever it stands") {
  for (const std::int64_t n : {1, 5, 16, 33, 70, 200})
    for (std::int64_t at = 0; at < n; ++at) {
      any_tensor x = random<float>({n});
      x.data<float>()[at] = nan_value;
      CHECK(std::isnan(numbers(run("Max", {x})[0])[0]));
      CHECK(std::isnan(numbers(run("Min", {x.reshaped({n, 1})}, {{"axes", integers{0}}})[0])[0]));
    }
}

TEST_CASE("infinities are numbers to a reduction") {
  const float inf = std::numeric_limits<float>::infinity();
  const any_tensor x = of<float>({4}, {-inf, 1, inf, 2});
  CHECK(numbers(run("Max", {x})[0])[0] == infinity);
  CHECK(numbers(run("Min", {x})[0])[0] == -infinity);
  CHECK(std::isnan(numbers(run("Sum", {x})[0])[0]));
}

TEST_CASE("a reduction of nothing gives what changes nothing") {
  const any_tensor x = random<float>({2, 0}), i = random<std::int32_t>({2, 0});
  const attributes rows{{"axes", integers{1}}};
  CHECK(numbers(run("Sum", {x}, rows)[0]) == std::vector<double>{0, 0});
  CHECK(numbers(run("Prod", {x}, rows)[0]) == std::vector<double>{1, 1});
  CHECK(numbers(run("Max", {x}, rows)[0]) == std::vector<double>{-infinity, -infinity});
  CHECK(numbers(run("Min", {x}, rows)[0]) == std::vector<double>{infinity, infinity});
  CHECK(numbers(run("Max", {i}, rows)[0])[0] == std::numeric_limits<std::int32_t>::lowest());
  CHECK(std::isnan(numbers(run("Mean", {x}, rows)[0])[1]));
  CHECK(run("Sum", {x}, {{"axes", integers{0}}})[0].shape() == shape{0});
}

TEST_CASE("integer sums wrap and integer means round towards zero") {
  const auto most = std::numeric_limits<std::int32_t>::max();
  CHECK(numbers(run("Sum", {of<std::int32_t>({2}, {most, 1})})[0])[0] == std::numeric_limits<std::int32_t>::lowest());
  CHECK(numbers(run("Mean", {of<std::int32_t>({2}, {-3, -4})})[0])[0] == -3);
  CHECK(numbers(run("Sum", {of<std::uint8_t>({3}, {200, 50, 7})})[0])[0] == 1);
}

TEST_CASE("axes that are not there, or stand twice, are refused") {
  const any_tensor x = random<float>({2, 3});
  CHECK_THROWS_WITH(reduced("Sum", x, {2}), Catch::Contains("axis 2 of a tensor of 2 dimensions: axes are in [-2, 2)"));
  CHECK_THROWS_WITH(reduced("Sum", x, {0, -2}), Catch::Contains("axis 0 is reduced twice"));
  CHECK_THROWS_WITH(run("Mean", {any_tensor(dtype::string, {2})}), Catch::Contains("Mean of string"));
  CHECK_THROWS_WITH(run("ArgMax", {x}, {{"axis", std::int64_t{-3}}}), Catch::Contains("axis -3"));
}

TEST_CASE("what is known of a reduced shape follows from what is known of its operand") {
  kernel_bench::graph g;
  const output x = g.feed_unknown(random<float>({2, 3}));
  const auto shape_of = [&](attributes attrs) { return g.type_of(g.add("Sum", {x}, std::move(attrs))).shape; };
  CHECK(shape_of({}) == shape{});
  CHECK_FALSE(shape_of({{"keep_dims", true}}).has_rank());
  CHECK_FALSE(shape_of({{"axes", integers{0}}}).has_rank());
  CHECK(g.value(g.add("Sum", {x}, {{"axes", integers{0}}})).shape() == shape{3});
}

TEST_CASE("argmax is the first of the greatest") {
  const any_tensor x = of<float>({2, 4}, {1, 5, 5, 2, 7, nan_value, 9, nan_value});
  CHECK(numbers(run("ArgMax", {x}, {{"axis", std::int64_t{1}}})[0]) == std::vector<double>{1, 1});
  CHECK(numbers(run("ArgMax", {x}, {{"axis", std::int64_t{0}}})[0]) == std::vector<double>{1, 1, 1, 1});
  CHECK_THROWS_WITH(run("ArgMax", {random<float>({2, 0})}, {{"axis", std::int64_t{1}}}),
                    Catch::Contains("of no elements"));
}

TEST_CASE("argmax of columns is that of each column alone") {
  const auto agrees = [](const any_tensor& x) {
    const std::int64_t n = x.shape()[0], columns = x.shape()[1];
    const std::vector<double> all = numbers(x), found = numbers(run("ArgMax", {x}, {{"axis", std::int64_t{0}}})[0]);
    for (std::int64_t j = 0; j < columns; ++j) {
      std::int64_t best = 0;
      for (std::int64_t r = 1; r < n; ++r)
        if (all[static_cast<std::size_t>(r * columns + j)] > all[static_cast<std::size_t>(best * columns + j)])
          best = r;
      if (found[static_cast<std::size_t>(j)] != static_cast<double>(best)) return false;
    }
    return true;
  };
  const auto wrapped = [](auto element, const shape& extent) {
    any_tensor x(dtype_of<decltype(element)>, extent);
    for (std::int64_t i = 0; i < x.count(); ++i)
      x.data<decltype(element)>()[i] = static_cast<decltype(element)>(i * 7919 % 101);
    return x;
  };
  for (const shape& extent : {shape{37, 3}, shape{37, 70}, shape{300, 33}, shape{5, 1100}}) {
    CHECK(agrees(random<float>(extent)));
    CHECK(agrees(random<double>(extent)));
    CHECK(agrees(wrapped(std::uint8_t{}, extent)));
    CHECK(agrees(wrapped(std::int32_t{}, extent)));
    CHECK(agrees(wrapped(std::int64_t{}, extent)));
  }
}

TEST_CASE("gradients of reductions are those of differences") {
  for (const std::string_view op : reductions)
    for (const integers& axes : {integers{0}, integers{1}, integers{2}, integers{0, 2}, integers{0, 1, 2}})
      for (const bool keep_dims : {false, true}) {
        INFO(op);
        CHECK(kernel_bench::gradient_error(op, {random<double>({2, 3, 4})}, {{"axes", axes}, {"keep_dims", keep_dims}},
                                           0) < 1e-8);
      }
}

TEST_CASE("the gradient of ExpandLike is a reduction") {
  const any_tensor x = random<double>({2, 3, 4});
  for (const bool mean : {false, true}) {
    const attributes attrs{{"axes", integers{0, 2}}, {"mean", mean}};
    CHECK(kernel_bench::gradient_error("ExpandLike", {random<double>({3}), x}, attrs, 0) < 1e-8);
  }
}

TEST_CASE("equal extremes share a gradient") {
  kernel_bench::graph g;
  const output x = g.feed(of<float>({4}, {1, 3, 3, 2})), dy = g.feed(of<float>({}, {8}));
  const output y = g.add("Max", {x});
  CHECK(numbers(g.value(*g.gradient(y, 0, dy))) == std::vector<double>{0, 4, 4, 0});
}

TEST_CASE("the gradient of a product is right beside zeros") {
  const auto gradient = [](std::vector<float> x) {
    kernel_bench::graph g;
    const output in = g.feed(of<float>({3}, x)), y = g.add("Prod", {in});
    return numbers(g.value(*g.gradient(y, 0, g.feed(of<float>({}, {2})))));
  };
  CHECK(gradient({2, 0, 5}) == std::vector<double>{0, 20, 0});
  CHECK(gradient({0, 0, 5}) == std::vector<double>{0, 0, 0});
  CHECK(gradient({2, 3, 5}) == std::vector<double>{30, 20, 12});
}
