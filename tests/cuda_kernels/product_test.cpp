// Matrix products on a GPU without a library.
#include "device_array.hpp"

#include <algorithm>

#include <pinion/op/matmul/cuda_kernels.hpp>

namespace {

using kernels::device_array, kernels::some_elements;
using pinion::cuda::product_extents;

template <class T>
std::vector<T> product_of(const std::vector<T>& a, const std::vector<T>& b, const product_extents& of) {
  std::vector<T> c(static_cast<std::size_t>(of.m * of.n), T(0));
  for (std::int64_t i = 0; i < of.m; ++i)
    for (std::int64_t j = 0; j < of.n; ++j)
      for (std::int64_t x = 0; x < of.k; ++x)
        c[static_cast<std::size_t>(i * of.n + j)] +=
            a[static_cast<std::size_t>(of.transpose_a ? x * of.m + i : i * of.k + x)] *
            b[static_cast<std::size_t>(of.transpose_b ? j * of.k + x : x * of.n + j)];
  return c;
}

// Elements are so small and few that every sum is exact.
template <class T>
bool multiplies(const product_extents& of) {
  const kernels::stream stream;
  const auto a = some_elements<T>(of.m * of.k), b = some_elements<T>(of.k * of.n, 2);
  const device_array<T> left(stream, a), right(stream, b), result(stream, of.m * of.n);
  pinion::cuda::multiply<T>(stream, left.data(), right.data(), result.data(), of);
  return result.read() == product_of(a, b, of);
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
