// How often something was how many steps behind, or ahead.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include <pinion/base/config.hpp>

namespace pinion { inline namespace v0 { namespace op {

// A value. The last count is of so many steps or more.
struct lag_counts {
  static constexpr std::size_t size = 16;
  std::array<std::int64_t, size> times{};

  // Less than none counts as none.
  void add(std::int64_t steps, std::int64_t how_often = 1);
};

}}}  // namespace pinion::v0::op

#if PINION_HEADER_ONLY
#include <pinion/state/lag_counts.ipp>
#endif
