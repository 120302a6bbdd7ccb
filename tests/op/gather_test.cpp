// Gathering rows, and adding rows up.
#include <catch2/catch.hpp>

#include "support/kernel_bench.hpp"

namespace {

using namespace pinion;
using kernel_bench::numbers;
using kernel_bench::of;
using kernel_bench::random;
using kernel_bench::run;

}  // namespace

TEST_CASE("rows are gathered by index, in the shape of the indices") {
  const any_tensor params = of<float>({3, 2}, {1, 2, 3, 4, 5, 6});
  CHECK(numbers(run("Gather", {params, of<std::int32_t>({3}, {2, 0, 2})})[0]) == std::vector<double>{5, 6, 1, 2, 5, 6});
  CHECK(run("Gather", {params, of<std::int64_t>({2, 2}, {0, 1, 2, 0})})[0].shape() == shape{2, 2, 2});
  CHECK(numbers(run("Gather", {params, of<std::int64_t>({}, {1})})[0]) == std::vector<double>{3, 4});
  CHECK(numbers(run("Gather", {of<bool>({2}, {true, false}), of<std::int32_t>({3}, {0, 1, 0})})[0]) ==
        std::vector<double>{1, 0, 1});
  CHECK(run("Gather", {params, of<std::int32_t>({0}, {})})[0].shape() == shape{0, 2});
}

TEST_CASE("an index that is no row fails the step and says where it stands") {
  const any_tensor params = random<float>({3, 2});
  CHECK_THROWS_WITH(run("Gather", {params, of<std::int32_t>({2}, {0, 3})}),
                    Catch::Contains("index 3 at position 1 is not in [0, 3)"));
  CHECK_THROWS_WITH(run("Gather", {params, of<std::int64_t>({1}, {-1})}), Catch::Contains("index -1"));
  CHECK_THROWS_WITH(run("ScatterDense", {of<std::int32_t>({1}, {3}), random<float>({1, 2}), params}),
                    Catch::Contains("index 3 at position 0"));
  CHECK_THROWS_WITH(run("Gather", {params, of<float>({1}, {0})}), Catch::Contains("int32 or int64, not float"));
  CHECK_THROWS_WITH(run("Gather", {params, of<std::int32_t>({1}, {0})}, {{"axis", std::int64_t{2}}}),
                    Catch::Contains("axis 2"));
}

TEST_CASE("indices are dealt out to the parts of a table, and each finds its row among those of all parts") {
  const attributes three{{"rows", integers{3, 2, 2}}};
  const auto dealt = run("PartitionIndices", {of<std::int32_t>({6}, {6, 0, 3, 3, 6, 2})}, three);
  REQUIRE(dealt.size() == 4);
  CHECK(numbers(dealt[0]) == std::vector<double>{0, 2});
  CHECK(numbers(dealt[1]) == std::vector<double>{0, 0});
  CHECK(numbers(dealt[2]) == std::vector<double>{1, 1});
  CHECK(numbers(dealt[3]) == std::vector<double>{4, 0, 2, 3, 5, 1});
  const auto matrix = run("PartitionIndices", {of<std::int64_t>({2, 1}, {1, 0})}, three);
  CHECK(matrix[1].shape() == shape{0});
  CHECK(matrix[3].shape() == shape{2, 1});
  CHECK(matrix[3].dtype() == dtype::int64);
  CHECK_THROWS_WITH(run("PartitionIndices", {of<std::int32_t>({2}, {6, 7})}, three),
                    Catch::Contains("index 7 at position 1 is not in [0, 7)"));
  CHECK_THROWS_WITH(run("PartitionIndices", {of<std::int64_t>({1}, {-1})}, three), Catch::Contains("index -1"));
}

TEST_CASE("rows of one index add up, and other rows are zero") {
  const any_tensor like = random<float>({4, 2}), rows = of<float>({3, 2}, {1, 2, 3, 4, 5, 6});
  CHECK(numbers(run("ScatterDense", {of<std::int32_t>({3}, {2, 0, 2}), rows, like})[0]) ==
        std::vector<double>{3, 4, 0, 0, 6, 8, 0, 0});
  CHECK_THROWS_WITH(run("ScatterDense", {of<std::int32_t>({3}, {2, 0, 2}), random<float>({3, 3}), like}),
                    Catch::Contains("are not rows of a tensor of shape [4, 2]"));
}

TEST_CASE("threads and streams change no bit of what is gathered and scattered") {
  const any_tensor like = random<float>({3000, 70}), rows = random<float>({9000, 70});
  any_tensor indices = random<std::int64_t>({9000});
  for (std::int64_t i = 0; i < 9000; ++i) indices.data<std::int64_t>()[i] = i * 7 % 2000;
  for (const kernel_bench::how& h : {kernel_bench::how{.threads = 3}, kernel_bench::on_stream}) {
    CHECK(run("ScatterDense", {indices, rows, like})[0] == run("ScatterDense", {indices, rows, like}, {}, h)[0]);
    CHECK(run("Gather", {like, indices})[0] == run("Gather", {like, indices}, {}, h)[0]);
  }
}

TEST_CASE("the gradient of a gather is sparse: the rows of the incoming one") {
  kernel_bench::graph g;
  const output params = g.feed(random<float>({3, 2})), indices = g.feed(of<std::int32_t>({2, 2}, {2, 0, 2, 1}));
  const output y = g.add("Gather", {params, indices}), dy = g.feed(of<float>({2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8}));
  const auto found = g.gradients(y.node, {dy})[0];
  REQUIRE(found);
  REQUIRE(found->is_sparse());
  CHECK(g.value(found->indices).shape() == shape{4});
  CHECK(g.value(found->rows).shape() == shape{4, 2});
  const output dense = g.add("ScatterDense", {found->indices, found->rows, params});
  CHECK(numbers(g.value(dense)) == std::vector<double>{3, 4, 7, 8, 6, 8});
}

TEST_CASE("a gather by a list of indices needs no shapes for its gradient") {
  kernel_bench::graph g;
  const output params = g.feed_unknown(random<float>({3, 2})), indices = g.feed(of<std::int32_t>({2}, {2, 0}));
  const output y = g.add("Gather", {params, indices}), dy = g.feed_unknown(random<float>({2, 2}));
  const auto found = g.gradients(y.node, {dy})[0];
  REQUIRE(found->is_sparse());
  CHECK(found->rows == dy);
}

TEST_CASE("a gather by indices of any shape needs none for its gradient, along any axis") {
  const any_tensor params = random<double>({3, 2, 2}), picks = of<std::int32_t>({2, 2}, {1, 0, 1, 1});
  for (const std::int64_t axis : {0, 1, -1, -3}) {
    const attributes along{{"axis", axis}};
    const any_tensor dy = random<double>(run("Gather", {params, picks}, along)[0].shape());
    const auto dense = [&](bool known) {
      kernel_bench::graph g;
      const output x = known ? g.feed(params) : g.feed_unknown(params),
                   i = known ? g.feed(picks) : g.feed_unknown(picks);
      const auto found = g.gradients(g.add("Gather", {x, i}, along).node, {known ? g.feed(dy) : g.feed_unknown(dy)})[0];
      REQUIRE(found);
      return numbers(
          g.value(found->is_sparse() ? g.add("ScatterDense", {found->indices, found->rows, x}) : found->dense));
    };
    CHECK(dense(false) == dense(true));
    if (axis != 0) CHECK(kernel_bench::gradient_error("Gather", {params, picks}, along, 0) < 1e-8);
  }
}

TEST_CASE("the gradient of scattered rows is a gather") {
  const std::vector<any_tensor> in{of<std::int32_t>({3}, {2, 0, 2}), random<double>({3, 2}), random<double>({4, 2})};
  CHECK(kernel_bench::gradient_error("ScatterDense", in, {}, 1) < 1e-8);
}
