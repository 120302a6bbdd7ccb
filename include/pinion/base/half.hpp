// half and bfloat16: floating-point numbers of 16 bits, which tensors hold and nothing computes with.
#pragma once

#include <bit>
#include <concepts>
#include <cstdint>
#include <type_traits>

namespace pinion { inline namespace v0 {

namespace detail {

// The bits of the half that is nearest to a float, and the even one where two are as near. A float beyond the greatest
// half becomes infinity, and a NaN stays one and is quiet. All ways are computed and one is selected, so that a loop
// over it is compiled to vectors.
constexpr std::uint16_t half_bits_of(float x) {
  const auto all = std::bit_cast<std::uint32_t>(x);
  const std::uint32_t sign = all >> 16 & 0x8000u, bits = all & 0x7fffffffu;
  const std::uint32_t wide = bits > 0x7f800000u ? 0x7e00u | (bits >> 13 & 0x3ffu) : 0x7c00u;  // NaN, or infinity
  // Below 2^-14 a half has its last bit at 2^-24, as a float has from 1/2 to 1: the sum rounds to it.
  const std::uint32_t small = std::bit_cast<std::uint32_t>(std::bit_cast<float>(bits) + 0.5f) - 0x3f000000u;
  const std::uint32_t usual = (bits - 0x38000000u + 0xfffu + (bits >> 13 & 1u)) >> 13;
  return static_cast<std::uint16_t>(sign | (bits >= 0x47800000u ? wide : bits < 0x38800000u ? small : usual));
}
// The float that a half is.
constexpr float float_of_half(std::uint16_t half) {
  const std::uint32_t sign = (half & 0x8000u) << 16, bits = (half & 0x7fffu) << 13;
  const std::uint32_t usual = bits + 0x38000000u, wide = bits + 0x70000000u;  // the latter of infinity and NaN
  const auto small = std::bit_cast<std::uint32_t>(std::bit_cast<float>(usual + 0x00800000u) - 0x1p-14f);
  return std::bit_cast<float>(sign | (bits >= 0x0f800000u ? wide : bits < 0x00800000u ? small : usual));
}

// The bits of the bfloat16 that is nearest to a float, by the rules of half_bits_of.
constexpr std::uint16_t bfloat16_bits_of(float x) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  const std::uint32_t nearest = (bits + 0x7fffu + (bits >> 16 & 1u)) >> 16, quiet = bits >> 16 | 0x40u;
  return static_cast<std::uint16_t>((bits & 0x7fffffffu) > 0x7f800000u ? quiet : nearest);
}
// The float that a bfloat16 is.
constexpr float float_of_bfloat16(std::uint16_t x) {
  return std::bit_cast<float>(std::uint32_t{x} << 16);
}

// The float that stands for a double where that is rounded once more: the double itself, or the one of the two floats
// around it whose last bit is 1. So the second rounding sees that digits went, and on which side; see S. Boldo and
// G. Melquiond, "Emulation of FMA and correctly rounded sums: proved algorithms using rounding to odd", 2008.
constexpr float odd_float_of(double x) {
  const auto nearest = static_cast<float>(x);
  const auto back = static_cast<double>(nearest);
  if (back == x || x != x) return nearest;
  auto bits = std::bit_cast<std::uint32_t>(nearest);
  if ((x > 0 && back > x) || (x < 0 && back < x)) --bits;  // one step towards 0
  return std::bit_cast<float>(bits | 1u);
}
constexpr float odd_float_of(float x) {
  return x;
}
// A double keeps 53 bits of an integer. Where there are more, its last one tells whether the others are 0.
template <std::integral T>
constexpr float odd_float_of(T x) {
  const bool negative = x < T(0);
  std::uint64_t size = negative ? 0 - static_cast<std::uint64_t>(x) : static_cast<std::uint64_t>(x);
  if (size >> 53) size = (size >> 11 | std::uint64_t((size & 2047u) != 0)) << 11;
  const auto all = static_cast<double>(size);
  return odd_float_of(negative ? -all : all);
}

// The members of the numbers of 16 bits. Self is one of these, Narrow rounds a float to its bits, and Widen is the
// float that they stand for.
template <class Self, std::uint16_t (*Narrow)(float), float (*Widen)(std::uint16_t)>
class float16 {
 public:
  // A number that is not set; Self{} is 0.
  float16() = default;
  template <class N>
  requires(std::integral<N> || std::same_as<N, float> || std::same_as<N, double>) constexpr explicit float16(N x)
      : bits_(Narrow(odd_float_of(x))) {}
  constexpr explicit operator float() const { return Widen(bits_); }
  constexpr explicit operator double() const { return static_cast<double>(Widen(bits_)); }

  // The number with these bits, and the bits of a number.
  static constexpr Self of_bits(std::uint16_t bits) {
    Self x{};
    x.bits_ = bits;
    return x;
  }
  constexpr std::uint16_t bits() const { return bits_; }

  friend constexpr bool operator==(Self a, Self b) { return float(a) == float(b); }
  friend constexpr bool operator<(Self a, Self b) { return float(a) < float(b); }

 private:
  std::uint16_t bits_;
};

}  // namespace detail

// Numbers of 16 bits are values of 2 bytes, which files, wires and devices hold as they are. They convert to float, and
// from any number, if one asks for it: pn::half(x), float(h). A number becomes the nearest one, rounded once, and where
// two are as near the even one; a number beyond the greatest becomes infinity, and NaN stays NaN. The float is exact.
// There is no arithmetic: pn::cast<float>(x) makes floats of an expression, and float(h) of a number. Comparisons are
// those of the floats.
//
//   pn::half h(0.1);                  // 0.099975586
//   float f = float(h) * 2;

// The binary16 format of IEEE 754: 11 bits of digits, up to 65504, the smallest of 2^-24.
class half : public detail::float16<half, detail::half_bits_of, detail::float_of_half> {
 public:
  using float16::float16;
};
// The first half of a float's bits: 8 bits of digits, and the range of float.
class bfloat16 : public detail::float16<bfloat16, detail::bfloat16_bits_of, detail::float_of_bfloat16> {
 public:
  using float16::float16;
};

}}  // namespace pinion::v0
