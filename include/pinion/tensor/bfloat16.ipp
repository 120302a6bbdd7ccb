// Bodies of <pinion/tensor/bfloat16.hpp>.
#pragma once

#include <bit>
#include <cstddef>

#include <pinion/tensor/bfloat16.hpp>

namespace pinion { inline namespace v0 {

namespace detail {

// Without a branch, so that a loop over it is compiled to vectors.
inline std::uint16_t bfloat16_of(float x) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  const std::uint32_t nearest = (bits + 0x7fffu + (bits >> 16 & 1u)) >> 16, quiet = bits >> 16 | 0x40u;
  return static_cast<std::uint16_t>((bits & 0x7fffffffu) > 0x7f800000u ? quiet : nearest);
}

}  // namespace detail

PINION_DECL void to_bfloat16(std::span<const float> from, std::span<std::uint16_t> to) {
  for (std::size_t i = 0; i < from.size(); ++i) to[i] = detail::bfloat16_of(from[i]);
}

PINION_DECL void from_bfloat16(std::span<const std::uint16_t> from, std::span<float> to) {
  for (std::size_t i = 0; i < from.size(); ++i) to[i] = std::bit_cast<float>(std::uint32_t{from[i]} << 16);
}

}}  // namespace pinion::v0
