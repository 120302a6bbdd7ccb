// Bodies of <pinion/tensor/bfloat16.hpp>.
#pragma once

#include <cstddef>

#include <pinion/base/half.hpp>
#include <pinion/tensor/bfloat16.hpp>

namespace pinion { inline namespace v0 {

PINION_DECL void to_bfloat16(std::span<const float> from, std::span<std::uint16_t> to) {
  for (std::size_t i = 0; i < from.size(); ++i) to[i] = bfloat16(from[i]).bits();
}

PINION_DECL void from_bfloat16(std::span<const std::uint16_t> from, std::span<float> to) {
  for (std::size_t i = 0; i < from.size(); ++i) to[i] = float(bfloat16::of_bits(from[i]));
}

}}  // namespace pinion::v0
