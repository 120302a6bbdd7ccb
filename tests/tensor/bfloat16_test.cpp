// Floats as bfloat16, bit by bit.
#include <pinion/tensor/bfloat16.hpp>

#include <catch2/catch.hpp>

#include <bit>
#include <cmath>
#include <vector>

namespace {

using namespace pinion;

std::uint16_t narrow(float x) {
  std::uint16_t y = 0;
  to_bfloat16({&x, 1}, {&y, 1});
  return y;
}
float wide(std::uint16_t x) {
  float y = 0;
  from_bfloat16({&x, 1}, {&y, 1});
  return y;
}
bool is_nan(std::uint16_t x) {
  return std::isnan(wide(x));
}

TEST_CASE("each bfloat16 is a float, and the same bfloat16 again; a NaN stays one") {
  for (std::uint32_t bits = 0; bits < 1u << 16; ++bits) {
    const auto x = static_cast<std::uint16_t>(bits);
    const std::uint16_t again = narrow(wide(x));
    if (is_nan(x) ? !is_nan(again) : again != x) FAIL_CHECK("bits " << bits << " become " << again);
  }
}

TEST_CASE("a float becomes the nearest bfloat16, and of two that are as near the even one") {
  for (std::uint32_t top = 0; top < 0x7f80u; top += 7) {
    const auto below = static_cast<std::uint16_t>(top), above = static_cast<std::uint16_t>(top + 1);
    const auto with = [&](std::uint32_t low) { return narrow(std::bit_cast<float>(top << 16 | low)); };
    CHECK(with(0x7fff) == below);
    CHECK(with(0x8000) == (top % 2 == 0 ? below : above));
    CHECK(with(0x8001) == above);
    CHECK(narrow(-std::bit_cast<float>(top << 16 | 0x8001)) == (above | 0x8000));
  }
}

TEST_CASE("a NaN whose first bits are those of infinity stays a NaN of its sign") {
  CHECK(narrow(std::bit_cast<float>(0x7f800001u)) == 0x7fc0);
  CHECK(narrow(std::bit_cast<float>(0xff800001u)) == 0xffc0);
  CHECK(narrow(std::bit_cast<float>(0xffffffffu)) == 0xffff);
}

TEST_CASE("spans of any length are rounded and widened, element by element") {
  std::vector<float> all(1003), back(all.size());
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<float>(i) - 500.f;
  std::vector<std::uint16_t> half(all.size());
  to_bfloat16(all, half);
  from_bfloat16(half, back);
  for (std::size_t i = 0; i < all.size(); ++i) CHECK(back[i] == wide(narrow(all[i])));
  to_bfloat16({}, {});
}

}  // namespace
