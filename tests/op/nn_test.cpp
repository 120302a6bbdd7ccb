// Softmax, the cross entropies and in_top_k against plain formulas in double.
#include <catch2/catch.hpp>

#include <cmath>
#include <limits>

#include <pinion/op/nn/loops.hpp>

#include "support/kernel_bench.hpp"

namespace {

using namespace pinion;
using kernel_bench::numbers;
using kernel_bench::of;
using kernel_bench::random;
using kernel_bench::run;

const float infinite = std::numeric_limits<float>::infinity(), not_a_number = std::numeric_limits<float>::quiet_NaN();
const std::vector<shape> shapes{{1, 1}, {3, 2}, {50, 10}, {7, 16}, {5, 17}, {4, 33}, {70, 3}, {3, 1000}, {200, 100}};

// Of each row x of a matrix: x - log(sum(e^x)).
std::vector<double> plain_log_softmax(const any_tensor& logits) {
  std::vector<double> y = numbers(logits);
  const auto n = static_cast<std::size_t>(logits.shape()[1]);
  for (std::size_t row = 0; row < y.size(); row += n) {
    double sum = 0;
    for (std::size_t i = 0; i < n; ++i) sum += std::exp(y[row + i]);
    for (std::size_t i = 0; i < n; ++i) y[row + i] -= std::log(sum);
  }
  return y;
}

double distance(const std::vector<double>& a, const std::vector<double>& b) {
  REQUIRE(a.size() == b.size());
  double worst = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    worst = std::max(worst, std::abs(a[i] - b[i]) / std::max(1.0, std::abs(b[i])));
  return worst;
}

template <class Label>
any_tensor labels_for(const any_tensor& logits) {
  any_tensor labels(dtype_of<Label>, {logits.shape()[0]});
  for (std::int64_t i = 0; i < labels.count(); ++i)
    labels.data<Label>()[i] = static_cast<Label>(i * 7 % logits.shape()[1]);
  return labels;
}

}  // namespace

TEMPLATE_TEST_CASE("softmax and its logarithm are those of the formula", "", float, double) {
  const double error = sizeof(TestType) == 4 ? 1e-6 : 1e-14;
  for (const shape& extent : shapes) {
    INFO(to_string(extent));
    const any_tensor x = random<TestType>(extent);
    std::vector<double> expected = plain_log_softmax(x);
    CHECK(distance(numbers(run("LogSoftmax", {x})[0]), expected) < error);
    for (double& v : expected) v = std::exp(v);
    CHECK(distance(numbers(run("Softmax", {x})[0]), expected) < error);
  }
}

TEST_CASE("softmax works along the last axis, whatever the rank, and of nothing is nothing") {
  const any_tensor x = random<float>({2, 3, 4});
  CHECK(numbers(run("Softmax", {x})[0]) == numbers(run("Softmax", {x.reshaped({6, 4})})[0]));
  CHECK(run("Softmax", {x.reshaped({24})})[0].shape() == shape{24});
  CHECK(run("Softmax", {random<float>({0, 4})})[0].shape() == shape{0, 4});
  CHECK(run("Softmax", {random<float>({3, 0})})[0].shape() == shape{3, 0});
  CHECK_THROWS_WITH(run("Softmax", {random<float>({})}), Catch::Contains("a scalar has none"));
  CHECK_THROWS_WITH(run("Softmax", {random<std::int32_t>({2})}), Catch::Contains("are float or double, not int32"));
}

TEST_CASE("softmax is right for logits that overflow an exponential") {
  const any_tensor x = of<float>({3, 3}, {1000, 1000, -1000, -2000, -1000, -1000, 0, -infinite, 0});
  CHECK(numbers(run("Softmax", {x})[0]) == std::vector<double>{.5, .5, 0, 0, .5, .5, .5, 0, .5});
  CHECK(numbers(run("LogSoftmax", {x})[0])[2] == Approx(-2000 - std::log(2.0)));
}

TEST_CASE("a row with NaN or with infinity on top is NaN, and its neighbours are not") {
  for (const float bad : {not_a_number, infinite}) {
    any_tensor x = random<float>({3, 5});
    x.data<float>()[7] = bad;
    const auto y = numbers(run("Softmax", {x})[0]);
    for (std::size_t i = 0; i < 15; ++i) CHECK(std::isnan(y[i]) == (i / 5 == 1));
  }
}

TEMPLATE_TEST_CASE("the sparse cross entropy and its gradient are those of the formula", "", float, double) {
  const double error = sizeof(TestType) == 4 ? 1e-6 : 1e-14;
  for (const shape& extent : shapes) {
    INFO(to_string(extent));
    const any_tensor x = random<TestType>(extent), labels = labels_for<std::int32_t>(x);
    const auto log_softmax = plain_log_softmax(x);
    std::vector<double> loss, backprop(log_softmax.size());
    for (std::size_t i = 0; i < backprop.size(); ++i) backprop[i] = std::exp(log_softmax[i]);
    for (std::int64_t r = 0; r < extent[0]; ++r) {
      const auto at = static_cast<std::size_t>(r * extent[1] + labels.data<std::int32_t>()[r]);
      loss.push_back(-log_softmax[at]);
      backprop[at] -= 1;
    }
    for (const any_tensor& l : {labels, labels_for<std::int64_t>(x)}) {
      const auto y = run("SparseSoftmaxCrossEntropyWithLogits", {l, x});
      CHECK(distance(numbers(y[0]), loss) < error);
      CHECK(distance(numbers(y[1]), backprop) < error);
    }
  }
}

TEMPLATE_TEST_CASE("the cross entropy and its gradient are those of the formula", "", float, double) {
  const double error = sizeof(TestType) == 4 ? 5e-6 : 1e-13;
  for (const shape& extent : shapes) {
    INFO(to_string(extent));
    const any_tensor x = random<TestType>(extent), labels = random<TestType>(extent, 2);
    const auto log_softmax = plain_log_softmax(x), weight = numbers(labels);
    std::vector<double> loss(static_cast<std::size_t>(extent[0])), backprop(weight.size());
    for (std::size_t i = 0; i < weight.size(); ++i) {
      loss[i / static_cast<std::size_t>(extent[1])] -= weight[i] * log_softmax[i];
      backprop[i] = std::exp(log_softmax[i]) - weight[i];
    }
    const auto y = run("SoftmaxCrossEntropyWithLogits", {labels, x});
    CHECK(distance(numbers(y[0]), loss) < error * std::sqrt(extent[1]));
    CHECK(distance(numbers(y[1]), backprop) < error);
  }
}

TEST_CASE("a label of weight 0 costs nothing, also where its probability is 0") {
  const auto y = run("SoftmaxCrossEntropyWithLogits",
                     {of<float>({1, 3}, {0, 1, 0}), of<float>({1, 3}, {-infinite, 2, -infinite})});
  CHECK(numbers(y[0]) == std::vector<double>{0});
  CHECK(numbers(y[1]) == std::vector<double>{0, 0, 0});
}

TEST_CASE("the loss alone is the same as with its gradient") {
  const any_tensor x = random<float>({50, 10}), labels = labels_for<std::int32_t>(x),
                   shares = random<float>({50, 10}, 3);
  const kernel_bench::how loss_only{.wanted = {true, false}};
  const auto sparse = run("SparseSoftmaxCrossEntropyWithLogits", {labels, x}, {}, loss_only);
  CHECK(sparse[1].empty());
  CHECK(sparse[0] == run("SparseSoftmaxCrossEntropyWithLogits", {labels, x})[0]);
  CHECK(run("SoftmaxCrossEntropyWithLogits", {shares, x}, {}, loss_only)[0] ==
        run("SoftmaxCrossEntropyWithLogits", {shares, x})[0]);
}

TEST_CASE("a label that is no class fails the step and names the row") {
  const any_tensor x = random<float>({100, 10});
  any_tensor labels = labels_for<std::int32_t>(x);
  labels.data<std::int32_t>()[70] = 10;
  CHECK_THROWS_WITH(run("SparseSoftmaxCrossEntropyWithLogits", {labels, x}),
                    Catch::Contains("the label 10 of row 70 is not in [0, 10)"));
  labels.data<std::int32_t>()[70] = -1;
  CHECK_THROWS_WITH(run("SparseSoftmaxCrossEntropyWithLogits", {labels, x}, {}, {.threads = 2}),
                    Catch::Contains("the label -1 of row 70"));
}

TEST_CASE("labels and logits that do not go together are refused") {
  const any_tensor x = random<float>({4, 3});
  const auto sparse = [&](const any_tensor& labels, const any_tensor& logits) {
    return run("SparseSoftmaxCrossEntropyWithLogits", {labels, logits});
  };
  CHECK_THROWS_WITH(sparse(random<std::int32_t>({5}), x), Catch::Contains("5 rows and 4"));
  CHECK_THROWS_WITH(sparse(random<float>({4}), x), Catch::Contains("the labels"));
  CHECK_THROWS_WITH(sparse(random<std::int32_t>({4, 1}), x), Catch::Contains("1 dimension"));
  CHECK_THROWS_WITH(run("SoftmaxCrossEntropyWithLogits", {random<double>({4, 3}), x}), Catch::Contains("pn::cast"));
  CHECK_THROWS_WITH(run("SoftmaxCrossEntropyWithLogits", {random<float>({4, 2}), x}), Catch::Contains("[4, 2]"));
  kernel_bench::graph late;
  const output labels = late.feed_unknown(random<std::int32_t>({5})), logits = late.feed_unknown(x);
  CHECK_THROWS_WITH(late.value(late.add("SparseSoftmaxCrossEntropyWithLogits", {labels, logits})),
                    Catch::Contains("do not go together"));
}

TEST_CASE("threads and streams change no bit of a loss") {
  const any_tensor x = random<float>({5000, 10}), labels = labels_for<std::int32_t>(x),
                   shares = random<float>({5000, 10}, 3);
  const auto same = [](std::string_view op, const std::vector<any_tensor>& in) {
    const auto alone = run(op, in);
    for (const kernel_bench::how& h : {kernel_bench::how{.threads = 3}, kernel_bench::on_stream}) {
      const auto other = run(op, in, {}, h);
      for (std::size_t i = 0; i < alone.size(); ++i) CHECK(kernel_bench::same_bits(alone[i], other[i]));
    }
  };
  same("SparseSoftmaxCrossEntropyWithLogits", {labels, x});
  same("SoftmaxCrossEntropyWithLogits", {shares, x});
  same("Softmax", {x});
  same("LogSoftmax", {x});
  same("ScaleRows", {x, random<float>({5000})});
}

TEMPLATE_TEST_CASE("a row has the same bits wherever it is, in every instruction set", "", float, double) {
  using T = TestType;
  constexpr std::int64_t rows = 37;
  const auto check = [](const auto& loops, std::int64_t n) {
    const any_tensor x = random<T>({rows, n});
    scalar::isa::for_each([&]<class Isa>(int isa) {
      if (!Isa::supported()) return;
      INFO(Isa::name << ", rows of " << n);
      const any_tensor all(x.dtype(), x.shape()), each(x.dtype(), x.shape());
      loops[isa](x.data<T>(), all.data<T>(), n, rows);
      for (std::int64_t r = 0; r < rows; ++r) loops[isa](x.data<T>() + r * n, each.data<T>() + r * n, n, 1);
      CHECK(kernel_bench::same_bits(all, each));
    });
  };
  for (const std::int64_t n : {1, 2, 3, 7, 10, 15, 16, 17, 31, 100, 256, 300}) {
    check(scalar::entries<loops::softmax_rows<T>, const T*, T*, std::int64_t, std::int64_t>, n);
    check(scalar::entries<loops::log_softmax_rows<T>, const T*, T*, std::int64_t, std::int64_t>, n);
  }
}

TEST_CASE("rows are scaled in place where nobody else reads them") {
  for (const std::int64_t n : {3, 16, 40}) {
    const any_tensor x = random<float>({5, n}), scale = of<float>({5}, {1, 2, 3, 4, 5});
    const auto expected = run("ScaleRows", {x, scale})[0];
    const auto& scaled = scalar::entries<loops::scaled_rows<float>, const float*, const float*, float*, std::int64_t,
                                         std::int64_t>[scalar::isa::best()];
    scaled(x.data<float>(), scale.data<float>(), x.data<float>(), n, 5);
    CHECK(x == expected);
  }
}

TEST_CASE("rows are scaled each by its factor") {
  const any_tensor x = of<float>({2, 3}, {1, 2, 3, 4, 5, 6});
  CHECK(numbers(run("ScaleRows", {x, of<float>({2}, {2, -1})})[0]) == std::vector<double>{2, 4, 6, -4, -5, -6});
  CHECK_THROWS_WITH(run("ScaleRows", {x, random<float>({3})}), Catch::Contains("2 rows and 3"));
}

TEST_CASE("a target is in the top k unless k predictions are greater") {
  const any_tensor p = of<float>({3, 4}, {.1f, .5f, .3f, .1f, .25f, .25f, .25f, .25f, 1, 2, 3, 4});
  const auto top = [&](std::int64_t k, std::vector<std::int32_t> targets) {
    return numbers(run("InTopK", {p, of<std::int32_t>({3}, targets)}, {{"k", k}})[0]);
  };
  CHECK(top(1, {1, 3, 3}) == std::vector<double>{1, 1, 1});
  CHECK(top(1, {2, 0, 2}) == std::vector<double>{0, 1, 0});
  CHECK(top(2, {2, 0, 1}) == std::vector<double>{1, 1, 0});
  CHECK(top(3, {3, 0, 0}) == std::vector<double>{1, 1, 0});
  CHECK(top(9, {4, -1, 0}) == std::vector<double>{0, 0, 1});
}

TEST_CASE("where predictions are not finite no target is in the top k") {
  const any_tensor p = of<float>({4, 3}, {1, not_a_number, 0, infinite, 1, 2, 3, 1, -infinite, 3, 2, 1});
  CHECK(numbers(run("InTopK", {p, of<std::int64_t>({4}, {0, 0, 0, 0})}, {{"k", std::int64_t{1}}})[0]) ==
        std::vector<double>{0, 0, 0, 1});
}

TEST_CASE("gradients of softmax and losses are those of differences") {
  const any_tensor x = random<double>({4, 5}), labels = labels_for<std::int32_t>(x),
                   shares = run("Softmax", {random<double>({4, 5}, 3)})[0];  // each row sums to 1
  const auto error = [](std::string_view op, const std::vector<any_tensor>& in, int by) {
    return kernel_bench::gradient_error(op, in, {}, by);
  };
  CHECK(error("Softmax", {x}, 0) < 1e-8);
  CHECK(error("LogSoftmax", {x}, 0) < 1e-8);
  CHECK(error("SparseSoftmaxCrossEntropyWithLogits", {labels, x}, 1) < 1e-8);
  CHECK(error("SoftmaxCrossEntropyWithLogits", {shares, x}, 0) < 1e-8);
  CHECK(error("SoftmaxCrossEntropyWithLogits", {shares, x}, 1) < 1e-8);
  CHECK(error("ScaleRows", {x, random<double>({4})}, 0) < 1e-8);
  CHECK(error("ScaleRows", {x, random<double>({4})}, 1) < 1e-8);
}
