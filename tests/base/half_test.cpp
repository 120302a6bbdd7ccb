// half and bfloat16: every one of them, ties, numbers around what they hold, and doubles and integers, rounded once.
#include <pinion/base/half.hpp>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <type_traits>

#include <catch2/catch.hpp>

using namespace pinion;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

static_assert(sizeof(half) == 2 && std::is_trivially_copyable_v<half> && std::is_trivially_copyable_v<bfloat16>);
static_assert(!std::is_convertible_v<float, half> && !std::is_convertible_v<half, float>);
static_assert(!std::is_same_v<half, bfloat16> && half{} == half(0) && half(1) < half(2) && half(1) != half(2));

// A format: the digits that it keeps, and the exponents of its least normal number and of the power of 2 behind its
// greatest one.
struct format {
  int digits, least, end;
};
constexpr format of_half{11, -14, 16}, of_bfloat16{8, -126, 128};

// The nearest number of a format, of two that are as near the even one, by the definition.
double nearest(long double x, const format& f) {
  if (std::isnan(x) || std::isinf(x) || x == 0) return static_cast<double>(x);
  int exponent = 0;
  std::frexp(x, &exponent);
  const int last = std::max(exponent - 1, f.least) - (f.digits - 1);  // the exponent of the last digit
  const long double y = std::ldexp(std::nearbyint(std::ldexp(x, -last)), last);
  return static_cast<double>(std::abs(y) >= std::ldexp(1.0L, f.end) ? std::copysign(infinity, static_cast<double>(x))
                                                                    : y);
}

template <class H>
constexpr format format_of = std::is_same_v<H, half> ? of_half : of_bfloat16;

// Equal in value and sign, or both NaN.
bool same(double a, double b) {
  return std::isnan(a) ? std::isnan(b) : a == b && std::signbit(a) == std::signbit(b);
}
bool same_numbers(double a, double b) {
  return a == b;
}

}  // namespace

TEMPLATE_TEST_CASE("each number of 16 bits is a float, and the same number again; a NaN stays one, and is quiet", "",
                   half, bfloat16) {
  unsigned wrong = 0, nans = 0;
  for (unsigned bits = 0; bits < 65536; ++bits) {
    const auto h = TestType::of_bits(static_cast<std::uint16_t>(bits));
    const float f = float(h);
    const auto again = TestType(f);
    if (std::isnan(f)) {
      ++nans;
      wrong += !std::isnan(float(again)) || h == h || std::signbit(float(again)) != std::signbit(f);
      const unsigned quiet = std::is_same_v<TestType, half> ? 0x200 : 0x40;
      wrong += (again.bits() | quiet) != (bits | quiet) || (again.bits() & quiet) == 0;
    } else {
      wrong += again.bits() != bits || TestType(double(h)).bits() != bits || nearest(f, format_of<TestType>) != f;
    }
  }
  CHECK(wrong == 0);
  CHECK(nans == (std::is_same_v<TestType, half> ? 2u * 1023 : 2u * 127));
}

TEST_CASE("known halves and bfloat16s") {
  CHECK(float(half::of_bits(0x3c00)) == 1);
  CHECK(float(half::of_bits(0x7bff)) == 65504);
  CHECK(float(half::of_bits(0x0001)) == std::ldexp(1.f, -24));
  CHECK(float(half::of_bits(0x0400)) == std::ldexp(1.f, -14));
  CHECK(float(half::of_bits(0xfc00)) == -std::numeric_limits<float>::infinity());
  CHECK(half(0.1).bits() == 0x2e66);
  CHECK(half(-0.0f).bits() == 0x8000);
  CHECK(half(65519.9).bits() == 0x7bff);
  CHECK(half(65520).bits() == 0x7c00);
  CHECK(half(1e300).bits() == 0x7c00);
  CHECK(half(-1e300).bits() == 0xfc00);
  CHECK(half(std::ldexp(1., -25)).bits() == 0);
  CHECK(half(std::ldexp(1.0001, -25)).bits() == 1);
  CHECK(bfloat16(1.f).bits() == 0x3f80);
  CHECK(bfloat16(std::numeric_limits<float>::max()).bits() == 0x7f80);
  CHECK(bfloat16(1e-300).bits() == 0);
  CHECK(bfloat16(-1e-300).bits() == 0x8000);
}

TEMPLATE_TEST_CASE("floats and doubles around each number of 16 bits, and around the ties, are rounded once", "", half,
                   bfloat16) {
  const format f = format_of<TestType>;
  unsigned wrong = 0;
  const auto check = [&](auto x) { wrong += !same(double(TestType(x)), nearest(x, f)); };
  for (unsigned bits = 0; bits < 65536; ++bits) {
    const auto next = static_cast<std::uint16_t>(bits + 1);
    const double low = double(TestType::of_bits(static_cast<std::uint16_t>(bits))),
                 high = double(TestType::of_bits(next));
    if (std::isnan(low) || !std::isfinite(high)) continue;
    const double tie = low + (high - low) / 2;
    for (const double x : {low, tie}) {
      check(x), check(std::nextafter(x, infinity)), check(std::nextafter(x, -infinity));
      const auto single = static_cast<float>(x);
      check(single), check(std::nextafter(single, std::numeric_limits<float>::infinity()));
      check(std::nextafter(single, -std::numeric_limits<float>::infinity()));
    }
  }
  CHECK(wrong == 0);
}

TEMPLATE_TEST_CASE("random floats, doubles and integers are rounded once", "", half, bfloat16) {
  const format f = format_of<TestType>;
  std::mt19937_64 dice(7);
  unsigned wrong = 0;
  for (int i = 0; i < 300'000; ++i) {
    const std::uint64_t bits = dice();
    const auto single = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    const auto large = std::bit_cast<double>(bits);
    const double near = std::ldexp(static_cast<double>(bits >> 11), static_cast<int>(bits % 60) - 80);
    wrong += !same(double(TestType(single)), nearest(single, f));
    wrong += !same(double(TestType(large)), nearest(large, f));
    wrong += !same(double(TestType(near)), nearest(near, f));
    const std::uint64_t whole = bits >> (dice() % 64);
    const auto with_sign = static_cast<std::int64_t>(bits) >> (dice() % 64);
    wrong += !same_numbers(double(TestType(whole)), nearest(static_cast<long double>(whole), f));
    wrong += !same_numbers(double(TestType(with_sign)), nearest(static_cast<long double>(with_sign), f));
  }
  for (int shift = 8; shift < 63; ++shift)  // a tie of bfloat16, and one more than that
    for (const std::int64_t more : {-1, 0, 1}) {
      const std::int64_t x = (std::int64_t{1} << shift) + (std::int64_t{1} << (shift - 8)) + more;
      wrong += !same_numbers(double(TestType(x)), nearest(static_cast<long double>(x), f));
      wrong += !same_numbers(double(TestType(-x)), nearest(static_cast<long double>(-x), f));
    }
  CHECK(wrong == 0);
}
