// The sizes in which pools keep blocks of memory.
#pragma once

#include <bit>
#include <cstddef>

#include <pinion/base/config.hpp>

namespace pinion { inline namespace v0 { namespace devices {

// Sizes count units of 64 bytes. There is a class for each number up to 16, and 16 between each power of two and the
// next: 17, ..., 32, 34, 36, ..., 64, 68, ... So a block is larger than what was asked for by a sixteenth at most.
inline std::size_t size_class_of(std::size_t bytes) {
  const std::size_t units = bytes / 64 + (bytes % 64 != 0);
  if (units <= 16) return units == 0 ? 0 : units - 1;
  const auto top = static_cast<std::size_t>(std::bit_width(units - 1)) - 1;  // units in (2^top, 2^(top + 1)]
  return 16 * (top - 3) + ((units - 1 - (std::size_t{1} << top)) >> (top - 4));
}

// The bytes of a block of a class.
inline std::size_t size_class_bytes(std::size_t index) {
  if (index < 16) return 64 * (index + 1);
  const std::size_t step = std::size_t{1} << (index / 16 - 1);
  return 64 * step * (16 + index % 16 + 1);
}

}}}  // namespace pinion::v0::devices
