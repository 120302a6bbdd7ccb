// Bodies of <pinion/op/dynamic/functions.hpp>.
#pragma once

#include <string>

#include <pinion/op/dynamic/functions.hpp>

namespace pinion { inline namespace v0 { namespace dsl {

PINION_DECL std::int64_t parts_of(const any_expr& sizes) {
  const shape& extent = sizes.shape();
  if (extent.rank() != 1 || extent[0] < 1)
    throw error(errc::invalid_argument, "split by '" + sizes.name() + "' of shape " + to_string(extent) +
                                            ": sizes are a vector of a known extent above 0, or split<N> says how "
                                            "many parts there are");
  return extent[0];
}

PINION_DECL int batch_axes_of(const any_expr& indices) {
  const shape& extent = indices.shape();
  if (!extent.has_rank() || extent.rank() == 0)
    throw error(errc::invalid_argument, "batch_gather at '" + indices.name() + "' of shape " + to_string(extent) +
                                            ": indices have a known rank, and one axis or more");
  return extent.rank() - 1;
}

}}}  // namespace pinion::v0::dsl
