// The extents of a tensor as numbers of a tensor.
#pragma once

#include <cstdint>
#include <limits>
#include <string>

#include <pinion/base/error.hpp>
#include <pinion/tensor/shape.hpp>

namespace pinion { inline namespace v0 { namespace op { namespace detail {

// Writes an int32 for each axis. Throws out_of_range for an extent that is greater.
inline void write_extents(const shape& extent, std::int32_t* to) {
  for (int i = 0; i < extent.rank(); ++i) {
    if (extent[i] > std::numeric_limits<std::int32_t>::max())
      throw error(errc::out_of_range, "axis " + std::to_string(i) + " of a tensor of shape " + to_string(extent) +
                                          " has more elements than an int32 counts");
    to[i] = static_cast<std::int32_t>(extent[i]);
  }
}

}}}}  // namespace pinion::v0::op::detail
