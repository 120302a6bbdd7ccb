// Reshape and transpose.
#include <catch2/catch.hpp>

#include <pinion/op/layout/loops.hpp>

#include "support/kernel_bench.hpp"

namespace {

using namespace pinion;
using kernel_bench::numbers;
using kernel_bench::random;
using kernel_bench::run;

any_tensor reshaped(const any_tensor& x, const shape& to) {
  return run("Reshape", {x}, {{"shape", to}})[0];
}
any_tensor transposed(const any_tensor& x, const integers& perm) {
  return run("Transpose", {x}, {{"perm", perm}})[0];
}

// The plain form: one element after the other.
std::vector<double> plainly_transposed(const any_tensor& x, const integers& perm) {
  const auto values = numbers(x);
  std::vector<double> y;
  for (std::int64_t e = 0; e < x.count(); ++e) {
    std::vector<std::int64_t> index(perm.size());
    std::int64_t rest = e, from = 0;
    for (std::size_t i = perm.size(); i-- > 0;) {
      const auto extent = x.shape()[static_cast<int>(perm[i])];
      index[static_cast<std::size_t>(perm[i])] = rest % extent;
      rest /= extent;
    }
    for (std::size_t i = 0; i < perm.size(); ++i) from = from * x.shape()[static_cast<int>(i)] + index[i];
    y.push_back(values[static_cast<std::size_t>(from)]);
  }
  return y;
}

}  // namespace

TEST_CASE("a reshape keeps the elements and shares their memory") {
  const any_tensor x = random<float>({2, 3, 4}), y = reshaped(x, {4, 6});
  CHECK(y.shape() == shape{4, 6});
  CHECK(y.raw() == x.raw());
  CHECK(reshaped(x, {-1, 8}).shape() == shape{3, 8});
  CHECK(reshaped(x, {24}).shape() == shape{24});
  CHECK(reshaped(random<float>({1}), {}).shape() == shape{});
  CHECK(reshaped(random<float>({0, 3}), {-1, 3}).shape() == shape{0, 3});
  CHECK(reshaped(random<float>({0, 3}), {0, -1}).shape() == shape{0, 3});
  CHECK(reshaped(random<float>({0, 3, 4}), {-1, 0, 6}).shape() == shape{2, 0, 6});
  CHECK(reshaped(random<float>({0, 3}), {5, -1}).shape() == shape{5, 0});
  CHECK_THROWS_WITH(reshaped(random<float>({2, 3}), {0, -1}), Catch::Contains("do not fill"));
  CHECK_THROWS_WITH(reshaped(random<float>({0, 3}), {0, 2, -1}), Catch::Contains("do not fill"));
}

TEST_CASE("a shape that the elements do not fill is refused") {
  const any_tensor x = random<float>({2, 3});
  CHECK_THROWS_WITH(reshaped(x, {4}),
                    Catch::Contains("the 6 elements of a tensor of shape [2, 3] do not fill the shape [4]"));
  CHECK_THROWS_WITH(reshaped(x, {-1, 4}), Catch::Contains("do not fill"));
  CHECK_THROWS_WITH(reshaped(x, {-1, -1}), Catch::Contains("more than one -1"));
  CHECK_THROWS_WITH(run("ReshapeLike", {x, random<float>({5})}), Catch::Contains("do not fill"));
  kernel_bench::graph late;
  CHECK_THROWS_WITH(late.value(late.add("Reshape", {late.feed_unknown(x)}, {{"shape", shape{5}}})),
                    Catch::Contains("do not fill"));
}

TEST_CASE("transposition moves every element to its place") {
  struct row {
    shape x;
    integers perm;
  };
  const std::vector<row> table{{{3, 5}, {1, 0}},
                               {{70, 33}, {1, 0}},
                               {{2, 3, 4}, {0, 2, 1}},
                               {{2, 3, 4}, {2, 0, 1}},
                               {{2, 3, 4}, {1, 0, 2}},
                               {{2, 3, 4}, {0, 1, 2}},
                               {{2, 3, 4, 5}, {0, 3, 1, 2}},
                               {{2, 3, 4, 5}, {3, 2, 1, 0}},
                               {{5}, {0}},
                               {{}, {}},
                               {{1, 7, 1}, {2, 0, 1}},
                               {{2, 0, 3}, {2, 1, 0}},
                               {{2, 3, 2, 3, 2}, {4, 2, 0, 1, 3}},
                               {{131, 70}, {1, 0}},
                               {{200, 11}, {1, 0}},
                               {{9, 300}, {1, 0}},
                               {{3, 65, 34}, {0, 2, 1}},
                               {{40, 3, 50}, {2, 1, 0}},
                               {{6, 5, 40}, {1, 0, 2}}};
  for (const auto& [extent, perm] : table) {
    INFO(to_string(extent));
    CHECK(numbers(transposed(random<float>(extent), perm)) == plainly_transposed(random<float>(extent), perm));
    CHECK(numbers(transposed(random<double>(extent), perm)) == plainly_transposed(random<double>(extent), perm));
    CHECK(numbers(transposed(random<std::uint8_t>(extent), perm)) ==
          plainly_transposed(random<std::uint8_t>(extent), perm));
  }
  const any_tensor x = random<float>({300, 500});
  CHECK(run("Transpose", {x})[0] == transposed(x, {1, 0}));
  CHECK(run("Transpose", {x})[0] == run("Transpose", {x}, {}, kernel_bench::on_stream)[0]);
  CHECK(run("Transpose", {x})[0] == run("Transpose", {x}, {}, {.threads = 2})[0]);
}

TEMPLATE_TEST_CASE("strips are transposed alike in every instruction set", "", std::uint8_t, float, double) {
  const auto check = [](const auto& strips, std::int64_t rows, std::int64_t columns) {
    const any_tensor x = random<TestType>({rows, columns}), expected = transposed(x, {1, 0});
    scalar::isa::for_each([&]<class Isa>(int isa) {
      if (!Isa::supported()) return;
      const any_tensor y(x.dtype(), {columns, rows});
      INFO(Isa::name << " [" << rows << ", " << columns << "]");
      strips[isa](x.data<TestType>(), columns, y.data<TestType>(), rows, rows, columns);
      CHECK(y == expected);
    });
  };
  using word = TestType;
  const auto& strips = scalar::entries<loops::transposed_strip<word>, const word*, std::int64_t, word*, std::int64_t,
                                       std::int64_t, std::int64_t>;
  for (const auto& [rows, columns] : {std::pair{1, 1}, {3, 200}, {5, 9}, {16, 17}, {40, 70}, {64, 64}, {150, 131}})
    check(strips, rows, columns);
  const auto& streamed = scalar::entries<loops::streamed_strip<word>, const word*, std::int64_t, word*, std::int64_t,
                                         std::int64_t, std::int64_t>;
  const std::int64_t line = loops::line_of<word>;
  for (const std::int64_t lines : {2, 3}) check(streamed, lines * line, 5 * line + 3);
}

TEST_CASE("a result that is written past the cache is the same") {
  const shape extent{2048, 2050};
  any_tensor x(dtype::int32, extent);
  for (std::int64_t i = 0; i < x.count(); ++i) x.data<std::int32_t>()[i] = static_cast<std::int32_t>(i);
  for (const int threads : {0, 2}) {
    const any_tensor y = run("Transpose", {x}, {}, {.threads = threads})[0];
    std::int64_t wrong = 0;
    for (std::int64_t i = 0; i < 2050; ++i)
      for (std::int64_t j = 0; j < 2048; ++j) wrong += y.data<std::int32_t>()[i * 2048 + j] != j * 2050 + i;
    CHECK(wrong == 0);
  }
}

TEST_CASE("what is no order of the axes is refused") {
  const any_tensor x = random<float>({2, 3});
  for (const integers& perm : {integers{0}, integers{0, 0}, integers{0, 2}, integers{-1, 0}, integers{0, 1, 2}})
    CHECK_THROWS_WITH(transposed(x, perm), Catch::Contains("is not an order of the 2 axes"));
}

TEST_CASE("gradients of layouts are those of differences") {
  const any_tensor x = random<double>({2, 3, 4});
  CHECK(kernel_bench::gradient_error("Reshape", {x}, {{"shape", shape{6, -1}}}, 0) < 1e-8);
  CHECK(kernel_bench::gradient_error("ReshapeLike", {x, random<double>({24})}, {}, 0) < 1e-8);
  CHECK(kernel_bench::gradient_error("Transpose", {x}, {{"perm", integers{2, 0, 1}}}, 0) < 1e-8);
  CHECK(kernel_bench::gradient_error("Transpose", {x}, {}, 0) < 1e-8);
}
