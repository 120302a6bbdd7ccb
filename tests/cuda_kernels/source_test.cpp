// Numbers that a GPU makes without operands.
#include "device_array.hpp"

#include <pinion/op/source/cuda_kernels.hpp>

using kernels::device_array;

TEMPLATE_TEST_CASE("memory is filled with one value", "", float, double, std::int32_t, std::int64_t, std::uint8_t) {
  const kernels::stream stream;
  for (const std::int64_t n : {0, 1, 255, 257, 4096, 100003})
    for (const int behind : {0, 1}) {
      const device_array<TestType> y(stream, n, behind);
      pinion::cuda::fill(stream, y.data(), n, static_cast<TestType>(7));
      CHECK(y.read() == std::vector<TestType>(static_cast<std::size_t>(n), static_cast<TestType>(7)));
    }
}

TEMPLATE_TEST_CASE("ranges have the host's numbers", "", float, double, std::int32_t, std::int64_t) {
  using number = std::conditional_t<std::is_floating_point_v<TestType>, double, std::int64_t>;
  const kernels::stream stream;
  const number start = static_cast<number>(-1000.3), step = static_cast<number>(3.1);
  for (const std::int64_t n : {0, 1, 300, 20011}) {
    const device_array<TestType> y(stream, n);
    pinion::cuda::count_up(stream, y.data(), n, start, step);
    std::vector<TestType> expected;
    for (std::int64_t i = 0; i < n; ++i)
      expected.push_back(static_cast<TestType>(start + static_cast<number>(i) * step));
    CHECK(y.read() == expected);
  }
}

TEST_CASE("numbers that the host knows are written") {
  const kernels::stream stream;
  const std::vector<std::int32_t> given{5, 0, -3, 1 << 30, 2, 6, 7, 8};
  const device_array<std::int32_t> y(stream, 8);
  pinion::cuda::write_given(stream, y.data(), 8, given.data());
  CHECK(y.read() == given);
  pinion::cuda::write_given(stream, y.data(), 0, given.data());
}
