// Tensors converted from each dtype to each other one.
#include <pinion/tensor/convert.hpp>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include <pinion/base/outcome.hpp>

using namespace pinion;

namespace {

template <class T, class From>
std::vector<T> converted_to(const std::vector<From>& from) {
  const any_tensor y = converted(tensor<From>::of(from).untyped(), dtype_of<T>);
  return std::vector<T>(y.data<T>(), y.data<T>() + y.count());
}

template <class F>
void for_moved(const F& f) {
  for (unsigned type = 0; type < 16; ++type)
    if (dtypes::moved.has(static_cast<dtype>(type))) visit_plain<dtypes::moved>(static_cast<dtype>(type), f);
}

// The number that a small whole number becomes.
template <class T>
double as(double x) {
  if constexpr (std::is_same_v<T, bool>) return x != 0;
  return x;
}

}  // namespace

TEST_CASE("small whole numbers pass between all dtypes, in tensors of any length") {
  unsigned wrong = 0, pairs = 0;
  for (const std::int64_t n : {0, 1, 255, 256, 257, 1000})
    for_moved([&]<class From>() {
      any_tensor x(dtype_of<From>, {n});
      for (std::int64_t i = 0; i < n; ++i) x.data<From>()[i] = static_cast<From>(static_cast<float>(i % 100));
      for_moved([&]<class To>() {
        const any_tensor y = converted(x, dtype_of<To>);
        wrong += y.dtype() != dtype_of<To> || y.shape() != x.shape();
        for (std::int64_t i = 0; i < n; ++i)
          wrong += static_cast<double>(y.data<To>()[i]) != as<To>(as<From>(static_cast<double>(i % 100)));
        ++pairs;
      });
    });
  CHECK(wrong == 0);
  CHECK(pairs == 6 * 13 * 13);
}

TEST_CASE("numbers are cut off for integers, kept within them, and NaN is 0") {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  const std::vector<float> x{2.9f, -2.9f, 300, -300, infinity, -infinity, NAN, 1e30f};
  CHECK(converted_to<std::int8_t>(x) == std::vector<std::int8_t>{2, -2, 127, -128, 127, -128, 0, 127});
  CHECK(converted_to<std::uint16_t>(x) == std::vector<std::uint16_t>{2, 0, 300, 0, 65535, 0, 0, 65535});
  CHECK(converted_to<std::uint64_t>(x) == std::vector<std::uint64_t>{2, 0, 300, 0, UINT64_MAX, 0, 0, UINT64_MAX});
  CHECK(converted_to<std::int64_t>(std::vector<double>{9.3e18, -9.3e18, 4e9}) ==
        std::vector<std::int64_t>{INT64_MAX, INT64_MIN, 4'000'000'000});
  CHECK(converted_to<bool>(std::vector<half>{half(0), half(-0.f), half(NAN), half(.25)}) ==
        std::vector<bool>{false, false, true, true});
}

TEST_CASE("integers keep their low bits, and the large ones their values") {
  CHECK(converted_to<std::int8_t>(std::vector<int>{128, 255, 256, -129}) == std::vector<std::int8_t>{-128, -1, 0, 127});
  CHECK(converted_to<std::uint64_t>(std::vector<std::int8_t>{-1}) == std::vector<std::uint64_t>{UINT64_MAX});
  CHECK(converted_to<std::int64_t>(std::vector<std::uint64_t>{UINT64_MAX}) == std::vector<std::int64_t>{-1});
  CHECK(converted_to<double>(std::vector<std::uint64_t>{UINT64_MAX, 1}) == std::vector<double>{0x1p64, 1});
  CHECK(converted_to<float>(std::vector<std::uint32_t>{UINT32_MAX}) == std::vector<float>{0x1p32f});
  CHECK(converted_to<bool>(std::vector<std::uint64_t>{std::uint64_t{1} << 63, 0}) == std::vector<bool>{true, false});
}

TEST_CASE("a number is rounded once") {
  const double above_a_tie = 1 + 0x1p-11 + 0x1p-40;  // the nearest float is the tie
  CHECK(converted_to<half>(std::vector<double>{above_a_tie}) == std::vector<half>{half::of_bits(0x3c01)});
  const std::int64_t above = (std::int64_t{1} << 62) + (std::int64_t{1} << 54) + 1;  // so is the nearest double
  CHECK(converted_to<bfloat16>(std::vector<std::int64_t>{above}) == std::vector<bfloat16>{bfloat16::of_bits(0x5e81)});
  CHECK(converted_to<bfloat16>(std::vector<std::uint64_t>{static_cast<std::uint64_t>(above)}) ==
        std::vector<bfloat16>{bfloat16::of_bits(0x5e81)});
}

TEST_CASE("text, nothing and no dtype are not converted, and a tensor of the dtype is shared") {
  const auto refused = [](const any_tensor& x, dtype to) {
    const auto got = outcome_of([&] { converted(x, to); });
    return got ? std::string() : got.failure()->sentence();
  };
  const any_tensor x = tensor<float>::of({1, 2}).untyped();
  CHECK(refused(x, dtype::string) == "elements of float are not converted to string; numbers and bools are");
  CHECK(refused(tensor<std::string>{}.untyped(), dtype::half) ==
        "elements of string are not converted to half; numbers and bools are");
  CHECK(refused(x, dtype::invalid) == "elements of float are not converted to invalid; numbers and bools are");
  CHECK(refused({}, dtype::half) == "no tensor on the host is to be converted");
  CHECK(converted(x, dtype::float32).raw() == x.raw());
}
