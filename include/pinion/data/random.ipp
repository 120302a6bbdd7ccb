// Bodies of <pinion/data/random.hpp>.
#pragma once

#include <pinion/data/random.hpp>

namespace pinion { inline namespace v0 { namespace data {

PINION_DECL std::uint64_t random_indices::below(std::uint64_t n) {
  __extension__ using wide = unsigned __int128;
  wide product = static_cast<wide>(next()) * n;
  if (static_cast<std::uint64_t>(product) < n)
    for (const std::uint64_t least = (0 - n) % n; static_cast<std::uint64_t>(product) < least;)
      product = static_cast<wide>(next()) * n;
  return static_cast<std::uint64_t>(product >> 64);
}

}}}  // namespace pinion::v0::data
