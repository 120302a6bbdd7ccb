// Where NaN stands in an order, and which of equal elements is first.
#include <limits>

#include <catch2/catch.hpp>

#include "support/kernel_bench.hpp"

namespace {

using namespace pinion;
using kernel_bench::numbers;
using kernel_bench::of;
using kernel_bench::run;

const float nan_of_order = std::numeric_limits<float>::quiet_NaN();

attributes last_axis(bool descending) {
  return {{"axis", std::int64_t{-1}}, {"descending", descending}};
}

}  // namespace

TEST_CASE("NaN is last in either order, and equal elements stay in theirs") {
  const any_tensor x = of<float>({6}, {2, nan_of_order, 1, 2, nan_of_order, 3});
  CHECK(numbers(run("ArgSort", {x}, last_axis(false))[0]) == std::vector<double>{2, 0, 3, 5, 1, 4});
  CHECK(numbers(run("ArgSort", {x}, last_axis(true))[0]) == std::vector<double>{5, 0, 3, 2, 1, 4});
  const auto sorted = numbers(run("Sort", {x}, last_axis(true))[0]);
  CHECK(std::vector<double>(sorted.begin(), sorted.begin() + 4) == std::vector<double>{3, 2, 2, 1});
  CHECK((std::isnan(sorted[4]) && std::isnan(sorted[5])));
}

TEST_CASE("NaN counts as the greatest of the largest, and of equal elements the first comes first") {
  const any_tensor x = of<float>({6}, {2, nan_of_order, 1, 2, nan_of_order, 3});
  const auto found = run("TopKV2", {x}, {{"k", std::int64_t{5}}});
  CHECK(numbers(found[1]) == std::vector<double>{1, 4, 5, 0, 3});
}

TEST_CASE("an index outside of an axis fails the step and says where it stands") {
  const any_tensor x = of<float>({2, 2}, {1, 2, 3, 4});
  const attributes axis{{"axis", std::int64_t{1}}};
  CHECK_THROWS_WITH(run("TakeAlongAxis", {x, of<std::int32_t>({2, 1}, {0, 2})}, axis),
                    Catch::Contains("index 2 at position 1 is not in [0, 2)"));
  CHECK_THROWS_WITH(run("AddAlongAxis", {of<std::int64_t>({2, 1}, {0, -1}), of<float>({2, 1}, {1, 1}), x}, axis),
                    Catch::Contains("index -1 at position 1"));
}
