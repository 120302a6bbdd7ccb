// Bodies of <pinion/op/norm/group_norm.hpp>.
#pragma once

#include <string>

#include <pinion/op/norm/group_norm.hpp>

namespace pinion { inline namespace v0 { namespace dsl {

PINION_DECL void expect_norm_of_groups(const char* function, const shape& x, const shape& gamma, const shape& beta,
                                       std::int64_t groups) {
  const std::int64_t channels = x.rank() < 2 ? unknown : x[x.rank() - 1];
  if (channels < 1)
    throw error(errc::invalid_argument, std::string(function) + " of shape " + to_string(x) +
                                            ": it takes [n, ..., channels] of a known rank and number of channels");
  if (groups < 1 || channels % groups != 0)
    throw error(errc::invalid_argument, std::string(function) + " of " + std::to_string(channels) + " channels in " +
                                            std::to_string(groups) + " groups, which do not divide them");
  for (const shape& weights : {gamma, beta})
    if (!fits(weights, {channels}))
      throw error(errc::invalid_argument, std::string(function) + " of shape " + to_string(x) +
                                              " has a gamma or a beta of shape " + to_string(weights) + ", not " +
                                              to_string(shape{channels}));
}

}}}  // namespace pinion::v0::dsl
