// Finds the name that a misspelled one was meant to be.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

#include <pinion/base/config.hpp>

namespace pinion { inline namespace v0 {

// The number of characters to insert, remove, replace or swap with their neighbours that makes one text of the other
// (the optimal string alignment distance). Case is ignored. The time grows with the product of the lengths.
std::size_t edit_distance(std::string_view a, std::string_view b);

// A misspelled name may have one wrong character among this many.
inline constexpr std::size_t characters_per_slip = 3;

// The name that is nearest to a wanted one; the first of several equally near. It is "" if none is near: where more
// than one in three characters would have to change, or all of them.
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

// The end of a sentence, such as "; did you mean 'worker'?", or "" if no name is near.
template <class Names>
std::string did_you_mean(std::string_view wanted, const Names& names) {
  const std::string name = nearest_name(wanted, names);
  return name.empty() ? name : "; did you mean '" + name + "'?";
}

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/base/near_name.ipp>
#endif
