// Random choices: how often each is made, by which seed, and what they refuse.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include <pinion/graph.hpp>
#include <pinion/session.hpp>

#include "support/own_graph.hpp"

namespace {

using namespace pinion;

struct samples_bench : own_graph {
  template <element T>
  static std::vector<T> elements(const tensor<T>& x) {
    return {x.data(), x.data() + x.shape().count()};
  }
  template <element T>
  std::vector<T> run(const expr<T>& y) {
    session s{{.graph = &g}};
    const tensor<T> all = s.run(y);
    return elements(all);
  }
};

}  // namespace

TEST_CASE_METHOD(samples_bench, "multinomial draws classes by their probabilities, and none of probability 0") {
  const float never = -std::numeric_limits<float>::infinity();
  const expr<float> logits = constant<float>({{std::log(.5f), std::log(.2f), never, std::log(.3f)}, {0, 5, 5, 0}});
  const std::int64_t n = 20000;
  const expr<std::int64_t> draws = multinomial(logits, n, {.seed = 3});
  CHECK(draws.shape() == shape{2, n});
  const auto drawn = run(draws);
  const auto share = [&](std::int64_t row, std::int64_t of) {
    return double(std::count(drawn.begin() + row * n, drawn.begin() + (row + 1) * n, of)) / double(n);
  };
  CHECK(share(0, 0) == Approx(.5).margin(.02));
  CHECK(share(0, 1) == Approx(.2).margin(.02));
  CHECK(share(0, 2) == 0);
  CHECK(share(0, 3) == Approx(.3).margin(.02));
  CHECK(share(1, 1) == Approx(.5).margin(.02));
  CHECK(run(draws) == drawn);  // by the same seed
  CHECK_THROWS_WITH(multinomial(constant<float>({1, 2}), 3), Catch::Contains("has shape [2]"));
}

TEST_CASE_METHOD(samples_bench, "multinomial takes rows whose number is not known") {
  const auto logits = placeholder<float>({unknown, 3}, "logits");
  const expr<std::int64_t> draws = multinomial(logits, 4, {.seed = 1});
  session s{{.graph = &g}};
  const tensor<std::int64_t> drawn = s.run({{logits, tensor<float>::of({{0, 99, 0}, {99, 0, 0}})}}, draws);
  CHECK(drawn == tensor<std::int64_t>::of({{1, 1, 1, 1}, {0, 0, 0, 0}}));
}

TEST_CASE_METHOD(samples_bench, "bernoulli is true as often as its probability says, 0 and 1 included") {
  const auto share = [&](const expr<bool>& y) { return run(expr<float>(reduce_mean(cast<float>(y))))[0]; };
  CHECK(share(bernoulli(.3, {20000}, {.seed = 5})) == Approx(.3f).margin(.02));
  CHECK(share(bernoulli(0, {100}, {.seed = 5})) == 0);
  CHECK(share(bernoulli(1, {100}, {.seed = 5})) == 1);
  const expr<double> p = constant<double>({0, 1});
  const expr<int> each = cast<int>(bernoulli(p, {2, 2}, {.seed = 5}));
  CHECK(run(each) == std::vector<int>{0, 1, 0, 1});
}

TEST_CASE_METHOD(samples_bench, "shuffle keeps all rows, in another order in each run") {
  std::vector<int> numbers(100);
  std::iota(numbers.begin(), numbers.end(), 0);
  const expr<int> rows = shuffle(constant(tensor<int>({50, 2}, numbers)), {.seed = 9});
  session s{{.graph = &g}};
  const auto first = elements(tensor<int>(s.run(rows))), second = elements(tensor<int>(s.run(rows)));
  CHECK(first != second);
  CHECK(first != numbers);
  for (std::size_t i = 0; i < 100; i += 2) CHECK(first[i] + 1 == first[i + 1]);
  auto sorted = second;
  std::sort(sorted.begin(), sorted.end());
  CHECK(sorted == numbers);
}

TEST_CASE_METHOD(samples_bench, "shuffle takes rows whose number is not known, and texts whose number is") {
  const auto p = placeholder<float>({unknown, 2, unknown}, "p");
  const expr<float> rows = shuffle(p, {.seed = 2});
  session s{{.graph = &g}};
  CHECK(tensor<float>(s.run({{p, tensor<float>({7, 2, 0})}}, rows)).shape() == shape{7, 2, 0});
  const tensor<float> one = s.run({{p, tensor<float>::of({{{1.f}, {2.f}}})}}, rows);
  CHECK(one == tensor<float>::of({{{1.f}, {2.f}}}));
  auto words = run(shuffle(constant<std::string>({"a", "b", "c"})));
  std::sort(words.begin(), words.end());
  CHECK(words == std::vector<std::string>{"a", "b", "c"});
  CHECK_THROWS_WITH(shuffle(constant(1)), Catch::Contains("shuffle needs an axis of parts"));
  CHECK_THROWS_WITH(shuffle(placeholder<std::string>({unknown})), Catch::Contains("known number where they are texts"));
}
