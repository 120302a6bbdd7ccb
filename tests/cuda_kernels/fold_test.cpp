// Folds on a GPU: sums, products, extremes, and the greatest of each row.
#include "device_array.hpp"

#include <cmath>
#include <limits>

#include <pinion/op/reduce/cuda_kernels.hpp>

namespace {

using kernels::device_array, kernels::some_elements;
using pinion::cuda::fold_by, pinion::cuda::fold_extents;

// Short and long rows, columns few and many, and folds of two stages.
constexpr fold_extents shapes[] = {
    {0, 3, 1},    {3, 0, 1},    {3, 0, 5},     {1, 1, 1},      {7, 1, 3},     {1000, 3, 1},  {300, 10, 1},
    {5, 64, 1},   {9, 127, 1},  {3, 1024, 1},  {2, 4099, 1},   {1, 70000, 1}, {1, 65536, 1}, {3, 40000, 1},
    {1, 7, 2},    {2, 50, 3},   {1, 5000, 10}, {1, 3, 1000},   {2, 4, 4096},  {1, 300, 260}, {4, 9000, 4},
    {1, 9001, 1}, {1, 2000, 1}, {2, 129, 33},  {1, 16384, 16},
};

template <class T>
T combined(fold_by how, T a, T b) {
  switch (how) {
    case fold_by::sum: return static_cast<T>(a + b);
    case fold_by::product: return static_cast<T>(a * b);
    case fold_by::greatest: return b != b || b > a ? b : a;
    default: return b != b || b < a ? b : a;
  }
}

template <class T>
T of_nothing(fold_by how) {
  using limits = std::numeric_limits<T>;
  switch (how) {
    case fold_by::sum: return 0;
    case fold_by::product: return 1;
    case fold_by::greatest: return limits::has_infinity ? -limits::infinity() : limits::lowest();
    default: return limits::has_infinity ? limits::infinity() : limits::max();
  }
}

template <class T>
std::vector<T> folded(fold_by how, const std::vector<T>& x, const fold_extents& of) {
  std::vector<T> y(static_cast<std::size_t>(of.outer * of.inner), of_nothing<T>(how));
  for (std::int64_t o = 0; o < of.outer; ++o)
    for (std::int64_t i = 0; i < of.n; ++i)
      for (std::int64_t j = 0; j < of.inner; ++j) {
        T& to = y[static_cast<std::size_t>(o * of.inner + j)];
        to = combined(how, to, x[static_cast<std::size_t>((o * of.n + i) * of.inner + j)]);
      }
  return y;
}

template <class T>
std::vector<T> fold_on_device(fold_by how, const std::vector<T>& x, const fold_extents& of, std::int64_t divisor = 1,
                              int behind = 0) {
  const kernels::stream stream;
  const device_array<T> from(stream, x, behind), to(stream, of.outer * of.inner),
      scratch(stream, pinion::cuda::fold_scratch<T>(of));
  pinion::cuda::fold(stream, how, from.data(), to.data(), of, divisor, scratch.data());
  return to.read();
}

// Elements whose products stay small and exact: 1, -1, and a few powers of two.
template <class T>
std::vector<T> factors(std::int64_t size) {
  std::vector<T> all = some_elements<T>(size);
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = i % 5003 == 7 ? T(2) : all[i] < T(0) ? T(-1) : T(1);
  return all;
}

}  // namespace

TEMPLATE_TEST_CASE("every element is folded once, into its own result", "", float, double, std::int32_t, std::int64_t) {
  for (const fold_extents& of : shapes) {
    INFO(of.outer << " x " << of.n << " x " << of.inner);
    const std::int64_t size = of.outer * of.n * of.inner;
    const auto x = some_elements<TestType>(size);
    CHECK(fold_on_device(fold_by::sum, x, of) == folded(fold_by::sum, x, of));
    CHECK(fold_on_device(fold_by::greatest, x, of) == folded(fold_by::greatest, x, of));
    CHECK(fold_on_device(fold_by::least, x, of) == folded(fold_by::least, x, of));
    CHECK(fold_on_device(fold_by::product, factors<TestType>(size), of) ==
          folded(fold_by::product, factors<TestType>(size), of));
  }
}

TEST_CASE("all and any of bools are their least and their greatest") {
  for (const fold_extents& of : shapes) {
    INFO(of.outer << " x " << of.n << " x " << of.inner);
    std::vector<std::uint8_t> x(static_cast<std::size_t>(of.outer * of.n * of.inner), 1);
    for (std::size_t i = 0; i < x.size(); i += 37) x[i] = 0;
    if (of.n == 0) continue;
    CHECK(fold_on_device(fold_by::least, x, of) == folded(fold_by::least, x, of));
    CHECK(fold_on_device(fold_by::greatest, x, of) == folded(fold_by::greatest, x, of));
  }
}

TEST_CASE("sums have the same bits wherever they lie, and are divided last") {
  for (const fold_extents& of : shapes) {
    INFO(of.outer << " x " << of.n << " x " << of.inner);
    std::vector<float> x = some_elements<float>(of.outer * of.n * of.inner);
    for (float& e : x) e = std::exp(e);
    const std::vector<float> sums = fold_on_device(fold_by::sum, x, of);
    CHECK(fold_on_device(fold_by::sum, x, of, 1, 1) == sums);
    std::vector<float> thirds = sums;
    for (float& s : thirds) s /= 3;
    CHECK(fold_on_device(fold_by::sum, x, of, 3) == thirds);
  }
}

TEST_CASE("the mean of no elements is NaN") {
  CHECK(std::isnan(fold_on_device<float>(fold_by::sum, {}, {1, 0, 1}, 0)[0]));
}

TEST_CASE("a NaN among the elements is the greatest and the least") {
  for (const fold_extents& of : {fold_extents{3, 40, 1}, fold_extents{1, 40000, 3}, fold_extents{1, 70000, 1}}) {
    std::vector<double> x = some_elements<double>(of.outer * of.n * of.inner);
    x[static_cast<std::size_t>(of.inner * 20)] = std::nan("");
    for (const fold_by how : {fold_by::greatest, fold_by::least}) {
      const std::vector<double> y = fold_on_device(how, x, of);
      CHECK(std::isnan(y[0]));
      for (std::size_t i = 1; i < y.size(); ++i) CHECK(!std::isnan(y[i]));
    }
  }
}

TEST_CASE("sums of integers wrap around") {
  const std::vector<std::int32_t> x(5, 2'000'000'000);
  CHECK(fold_on_device(fold_by::sum, x, {1, 5, 1}) == std::vector<std::int32_t>{1'410'065'408});
}

TEMPLATE_TEST_CASE("the index of the greatest is that of the first of equal ones, or of the first NaN", "", float,
                   double, std::int32_t, std::int64_t, std::uint8_t) {
  const kernels::stream stream;
  for (const fold_extents& of : shapes) {
    if (of.n == 0) continue;
    INFO(of.outer << " x " << of.n << " x " << of.inner);
    auto x = some_elements<TestType>(of.outer * of.n * of.inner);
    if (std::numeric_limits<TestType>::has_quiet_NaN && of.n > 100)
      for (const std::size_t at : {50, 90})
        x[at * static_cast<std::size_t>(of.inner)] = std::numeric_limits<TestType>::quiet_NaN();
    std::vector<std::int64_t> expected;
    for (std::int64_t o = 0; o < of.outer; ++o)
      for (std::int64_t j = 0; j < of.inner; ++j) {
        std::int64_t best = 0;
        const auto at = [&](std::int64_t i) { return x[static_cast<std::size_t>((o * of.n + i) * of.inner + j)]; };
        for (std::int64_t i = 1; i < of.n; ++i)
          if (at(i) > at(best) || (at(i) != at(i) && at(best) == at(best))) best = i;
        expected.push_back(best);
      }
    const device_array<TestType> from(stream, x);
    const device_array<std::int64_t> to(stream, of.outer * of.inner);
    pinion::cuda::find_greatest<TestType>(stream, from.data(), to.data(), of);
    CHECK(to.read() == expected);
  }
}
