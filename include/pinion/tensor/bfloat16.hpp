// Floats as bfloat16, the first half of their bits, and back.
#pragma once

#include <cstdint>
#include <span>

#include <pinion/base/config.hpp>

namespace pinion { inline namespace v0 {

// Rounds each float to the nearest bfloat16, of two that are as near to the one whose last bit is 0. So a float beyond
// the greatest bfloat16 becomes infinity; a NaN stays one. Requires, for both: the spans are of one length, and do not
// overlap.
void to_bfloat16(std::span<const float> from, std::span<std::uint16_t> to);
// Yields the floats that are exactly these.
void from_bfloat16(std::span<const std::uint16_t> from, std::span<float> to);

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/tensor/bfloat16.ipp>
#endif
