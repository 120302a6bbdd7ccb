// Counts of how many steps something was behind, or ahead.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include <pinion/base/config.hpp>

namespace pinion { inline namespace v0 { namespace state {

// A histogram of steps: times[i] counts lags of i steps, and the last entry those of at least that many. A value.
struct lag_counts {
  static constexpr std::size_t size = 16;
  std::array<std::int64_t, size> times{};

  // Adds a lag. A negative one counts as 0.
  void add(std::int64_t steps, std::int64_t how_often = 1);
};

}}}  // namespace pinion::v0::state

#if PINION_HEADER_ONLY
#include <pinion/state/lag_counts.ipp>
#endif
