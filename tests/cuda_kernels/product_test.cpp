// Matrix products on a GPU without a library.
#include "device_array.hpp"

#include <cmath>
#include <limits>

#include <pinion/op/matmul/cuda_kernels.hpp>

namespace {

using kernels::device_array, kernels::some_elements;
using pinion::cuda::product_extents;

template <class T>
std::vector<T> product_of(const std::vector<T>& a, const std::vector<T>& b, const product_extents& of,
                          const std::vector<T>& bias = {}, bool relu = false, const std::vector<T>& gate = {}) {
  std::vector<T> c(static_cast<std::size_t>(of.m * of.n), T(0));
  for (std::int64_t i = 0; i < of.m; ++i)
    for (std::int64_t j = 0; j < of.n; ++j)
      for (std::int64_t x = 0; x < of.k; ++x)
        c[static_cast<std::size_t>(i * of.n + j)] +=
            a[static_cast<std::size_t>(of.transpose_a ? x * of.m + i : i * of.k + x)] *
            b[static_cast<std::size_t>(of.transpose_b ? j * of.k + x : x * of.n + j)];
  for (std::size_t i = 0; i < c.size(); ++i) {
    if (!bias.empty()) c[i] += bias[i % static_cast<std::size_t>(of.n)];
    if ((relu && c[i] <= 0) || (!gate.empty() && !(gate[i] > 0))) c[i] = 0;
  }
  return c;
}

// Elements are so small and few that every sum is exact.
template <class T>
bool multiplies(const product_extents& of, bool biased = false, bool relu = false, bool gated = false) {
  const kernels::stream stream;
  const auto a = some_elements<T>(of.m * of.k), b = some_elements<T>(of.k * of.n, 2),
             bias = some_elements<T>(biased ? of.n : 0, 3), gate = some_elements<T>(gated ? of.m * of.n : 0, 4);
  const device_array<T> left(stream, a), right(stream, b), added(stream, bias), gating(stream, gate),
      result(stream, of.m * of.n), scratch(stream, pinion::cuda::multiply_scratch(of));
  pinion::cuda::multiply<T>(stream, left.data(), right.data(), result.data(), scratch.data(), of,
                            {biased ? added.data() : nullptr, relu, gated ? gating.data() : nullptr});
  return result.read() == product_of(a, b, of, bias, relu, gate);
}

}  // namespace

TEMPLATE_TEST_CASE("matrices of any extents are multiplied, each as it is or transposed", "", float, double) {
  const std::int64_t extents[][3] = {{0, 3, 2},    {3, 0, 2},    {3, 2, 0},     {1, 1, 1},    {7, 5, 3},
                                     {64, 64, 16}, {65, 63, 17}, {1, 130, 100}, {129, 1, 31}, {66, 131, 35}};
  for (const auto& [m, n, k] : extents)
    for (const bool ta : {false, true})
      for (const bool tb : {false, true}) {
        INFO(m << " x " << k << " x " << n << ", transposed: " << ta << " and " << tb);
        CHECK(multiplies<TestType>({m, n, k, ta, tb}));
      }
}

TEMPLATE_TEST_CASE("a long inner dimension of a small product is cut into parts, whose sums are added in their order",
                   "", float, double) {
  for (const product_extents& of :
       {product_extents{1, 1, 5000, false, false}, product_extents{3, 70, 1025, true, false},
        product_extents{65, 2, 512, false, true}}) {
    INFO(of.m << " x " << of.k << " x " << of.n);
    CHECK(pinion::cuda::multiply_scratch(of) > of.m * of.n);
    CHECK(multiplies<TestType>(of));
    CHECK(multiplies<TestType>(of, true, true));
  }
  CHECK(pinion::cuda::multiply_scratch({4096, 4096, 4096, false, false}) == 0);
}

TEMPLATE_TEST_CASE("a product ends with a bias for each column and with relu", "", float, double) {
  for (const bool biased : {false, true})
    for (const bool relu : {false, true}) {
      CHECK(multiplies<TestType>({7, 5, 3, false, false}, biased, relu));
      CHECK(multiplies<TestType>({65, 130, 33, false, true}, biased, relu));
      CHECK(multiplies<TestType>({2, 3, 0, false, false}, biased, relu));
    }
}

TEMPLATE_TEST_CASE("a product becomes 0 where another matrix is not above 0", "", float, double) {
  CHECK(multiplies<TestType>({7, 5, 3, false, false}, false, false, true));
  CHECK(multiplies<TestType>({65, 130, 33, false, true}, false, false, true));
  CHECK(multiplies<TestType>({3, 70, 1025, true, false}, false, false, true));
}

TEST_CASE("the end of a product that is there already is that of one with its end, and NaN stays in it") {
  const kernels::stream stream;
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const device_array<float> c(stream, {-1, 2, nan, -3, 0, 1}), bias(stream, {2, -2, 1});
  pinion::cuda::end_product<float>(stream, c.data(), 2, 3, {bias.data(), true});
  const auto ended = c.read();
  CHECK(ended[0] == 1);
  CHECK(ended[1] == 0);
  CHECK(std::isnan(ended[2]));
  CHECK(std::vector<float>(ended.begin() + 3, ended.end()) == std::vector<float>{0, 0, 2});
}

TEST_CASE("the gate of a product is open above 0 alone, and so it is closed where it is NaN") {
  const kernels::stream stream;
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const device_array<float> c(stream, {1, 2, 3, 4}), gate(stream, {nan, -0.f, 1e-45f, -1});
  pinion::cuda::end_product<float>(stream, c.data(), 2, 2, {.gate = gate.data()});
  CHECK(c.read() == std::vector<float>{0, 0, 3, 0});
}
