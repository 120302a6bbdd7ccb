// Bodies of <pinion/state/lag_counts.hpp>.
#pragma once

#include <algorithm>

#include <pinion/state/lag_counts.hpp>

namespace pinion { inline namespace v0 { namespace state {

PINION_DECL void lag_counts::add(std::int64_t steps, std::int64_t how_often) {
  times[static_cast<std::size_t>(std::clamp<std::int64_t>(steps, 0, size - 1))] += how_often;
}

}}}  // namespace pinion::v0::state
