// Bodies of <pinion/nn/convolutions.hpp>.
#pragma once

#include <string>

#include <pinion/nn/convolutions.hpp>

namespace pinion { inline namespace v0 { namespace nn { namespace detail {

PINION_DECL std::int64_t channels_of(const char* layer, const any_expr& x, int rank,
                                     std::initializer_list<std::int64_t> numbers, std::int64_t groups) {
  const shape extent = x.shape();
  std::string given;
  bool good = extent.rank() == rank && extent[rank - 1] >= 1;
  for (const std::int64_t n : numbers) {
    good = good && n >= 1;
    given += (given.empty() ? "" : ", ") + std::to_string(n);
  }
  if (!good)
    throw error(errc::invalid_argument, "a " + std::string(layer) + " layer of (" + given + ") on '" + x.name() +
                                            "' of shape " + to_string(extent) + ": it takes positive numbers, and " +
                                            std::to_string(rank) + " axes, the last one of a known number of channels");
  if (groups < 1 || extent[rank - 1] % groups != 0)
    throw error(errc::invalid_argument, "a " + std::string(layer) + " layer of " + std::to_string(groups) +
                                            " groups on '" + x.name() + "' of shape " + to_string(extent) +
                                            ": the groups divide the channels");
  return extent[rank - 1];
}

}}}}  // namespace pinion::v0::nn::detail
