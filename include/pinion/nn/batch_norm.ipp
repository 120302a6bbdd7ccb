// Bodies of <pinion/nn/batch_norm.hpp>.
#pragma once

#include <string>

#include <pinion/nn/batch_norm.hpp>

namespace pinion { inline namespace v0 { namespace nn {

PINION_DECL void detail::expect_channels(std::string_view layer, const shape& extent, const any_expr& of) {
  if (extent.rank() >= 2 && extent[extent.rank() - 1] >= 1) return;
  throw error(errc::invalid_argument, std::string(layer) + " of '" + of.name() + "' of shape " + to_string(extent) +
                                          ": it takes [n, .., channels] of a known number of channels");
}

PINION_DECL axis_list detail::all_but_channels(int rank) {
  axis_list others;
  others.all = false;
  for (int i = 0; i < rank - 1; ++i) others.axes.push_back(i);
  return others;
}

}}}  // namespace pinion::v0::nn
