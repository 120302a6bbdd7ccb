// Random numbers that a GPU draws, beside those of the host.
#include "device_array.hpp"

#include <cmath>

#include <pinion/op/random/cpu.hpp>
#include <pinion/op/random/cuda_kernels.hpp>

namespace {

using kernels::device_array;
using pinion::cuda::random_elements;
namespace host = pinion::op::detail;

const random_elements many_elements[] = {{{1, 0}, 0, 0},
                                         {{7, 3}, 0, 1},
                                         {{7, 3}, 0, 2000},
                                         {{7, 3}, 5, 1022},
                                         {{1u << 31, 1ull << 40}, 3, 4001},
                                         {{12345678901234567u, 9}, (std::int64_t{1} << 35) + 2, 777}};

template <class T, class Elements>
std::vector<T> drawn_on_host(const random_elements& of, const Elements& elements) {
  std::vector<T> y(static_cast<std::size_t>(of.n));
  const std::int64_t first = of.first / host::per_block<T>, end = of.first + of.n;
  if (of.n > 0)
    host::fill_blocks<T>(elements, of.bits, y.data(), {of.first, end}, first, (end - 1) / host::per_block<T> + 1);
  return y;
}

template <class T, class Draw>
std::vector<T> drawn_on_device(const random_elements& of, Draw draw) {
  const kernels::stream stream;
  const device_array<T> y(stream, of.n);
  draw(stream, y.data());
  return y.read();
}

template <class T>
bool draws_uniform(const random_elements& of, T low, T high) {
  const T greatest = std::max(low, std::nextafter(high, low));
  return drawn_on_device<T>(of, [&](cudaStream_t s, T* to) {
           pinion::cuda::draw_uniform(s, to, of, low, high, greatest);
         }) == drawn_on_host<T>(of, host::uniform_elements<T>{low, high});
}

template <class T>
bool are_near(const std::vector<T>& a, const std::vector<T>& b) {
  for (std::size_t i = 0; i < a.size(); ++i)
    if (!(std::abs(a[i] - b[i]) <= T(1e-6) * std::max(T(1), std::abs(b[i])))) return false;
  return a.size() == b.size();
}

}  // namespace

TEMPLATE_TEST_CASE("uniform numbers are the host's, bit for bit", "", float, double) {
  for (const random_elements& of : many_elements) {
    INFO(of.n << " from " << of.first);
    CHECK(draws_uniform<TestType>(of, TestType(0), TestType(1)));
    CHECK(draws_uniform<TestType>(of, TestType(-3.3), TestType(1e6)));
    CHECK(draws_uniform<TestType>(of, TestType(1), std::nextafter(TestType(1), TestType(2))));
  }
}

TEMPLATE_TEST_CASE("random integers are the host's", "", std::int32_t, std::int64_t) {
  for (const random_elements& of : many_elements)
    for (const double high : {-1.5, 5.0, 1e9}) {
      INFO(of.n << " from " << of.first << ", below " << high);
      const double low = -7.25, least = std::ceil(low);
      const auto count = static_cast<std::uint64_t>(std::ceil(high) - least);
      CHECK(drawn_on_device<TestType>(of, [&](cudaStream_t s, TestType* to) {
              pinion::cuda::draw_integers(s, to, of, static_cast<std::int64_t>(least), count);
            }) == drawn_on_host<TestType>(of, host::uniform_elements<TestType>{low, high}));
    }
}

TEMPLATE_TEST_CASE("normal numbers are the host's up to rounding, the truncated ones too", "", float, double) {
  for (const random_elements& of : many_elements) {
    INFO(of.n << " from " << of.first);
    CHECK(are_near(drawn_on_device<TestType>(
                       of, [&](cudaStream_t s, TestType* to) { pinion::cuda::draw_normal(s, to, of, 1.5, 2.); }),
                   drawn_on_host<TestType>(of, host::normal_elements<TestType>{1.5, 2.})));
    CHECK(are_near(
        drawn_on_device<TestType>(
            of, [&](cudaStream_t s, TestType* to) { pinion::cuda::draw_truncated_normal(s, to, of, -1., 0.5); }),
        drawn_on_host<TestType>(of, host::truncated_elements<TestType>{-1., 0.5})));
  }
}
