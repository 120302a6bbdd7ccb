// Which of some names was meant by one that is not among them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

#include <pinion/base/config.hpp>

namespace pinion { inline namespace v0 {

// How many characters to insert, remove, replace, or swap with their neighbours, to make one text of the other. Case
// counts for nothing. Time grows with the product of their sizes.
std::size_t edit_distance(std::string_view a, std::string_view b);

// Among how many characters of a name one may be wrong, for it to be meant.
inline constexpr std::size_t characters_per_slip = 3;

// The nearest of some names, of equals the first; "" where none is near: it takes more than a slip every third
// character, or all of it would be another.
template <class Names>
std::string nearest_name(std::string_view wanted, const Names& names) {
  std::string best;
  std::size_t least = std::max<std::size_t>(wanted.size() / characters_per_slip, 1) + 1;
  for (const auto& each : names) {
    const std::string_view name = each;
    const std::size_t size = std::max(name.size(), wanted.size()), gap = size - std::min(name.size(), wanted.size());
    if (gap >= least || name == wanted) continue;
    const std::size_t distance = edit_distance(wanted, name);
    if (distance < least && distance < size) least = distance, best = name;
  }
  return best;
}

// "; did you mean 'worker'?", to stand at the end of a sentence; "" where no name is near.
template <class Names>
std::string did_you_mean(std::string_view wanted, const Names& names) {
  const std::string name = nearest_name(wanted, names);
  return name.empty() ? name : "; did you mean '" + name + "'?";
}

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/base/near_name.ipp>
#endif
