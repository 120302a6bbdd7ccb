// Bodies of <pinion/nn/positions.hpp>.
#pragma once

#include <cmath>
#include <limits>
#include <string>

#include <pinion/nn/positions.hpp>

namespace pinion { inline namespace v0 { namespace nn {

PINION_DECL any_expr detail::places_of(const any_expr& x, const rotary_options& o, source_location where) {
  const shape extent = x.shape();
  const int rank = extent.rank();
  const bool has_places = !o.places.empty();
  const std::int64_t length = rank < 2 ? unknown : extent[rank - 2], most = std::numeric_limits<int>::max();
  if (rank < 2 || extent[rank - 1] < 0 || extent[rank - 1] % 2 != 0 || (!has_places && (length < 0 || length > most)))
    throw error(errc::invalid_argument, "rotary of '" + x.name() + "' of shape " + to_string(extent) +
                                            ": it takes [..., length, depth] of a known, even depth, and of a known "
                                            "length unless places are given");
  if (!has_places) return pinion::range<int>(0, static_cast<int>(length), 1, {}, where);
  if (o.places.dtype() != dtype::int32)
    throw error(errc::invalid_argument, "the places '" + o.places.name() + "' of rotary are " +
                                            std::string(to_string(o.places.dtype())) + "; pn::cast<int>(x) converts");
  const shape& places = o.places.shape();
  if (places.rank() != 1 || !fits(places, shape{length}))
    throw error(errc::invalid_argument, "the places '" + o.places.name() + "' of rotary have shape " +
                                            to_string(places) + "; there is one for each of " + std::to_string(length) +
                                            " elements of a sequence");
  return o.places;
}

PINION_DECL std::vector<double> detail::angles_of(std::int64_t depth, double base) {
  std::vector<double> all;
  for (std::int64_t i = 0; i < depth; i += 2)
    all.push_back(std::pow(base, -static_cast<double>(i) / static_cast<double>(depth)));
  return all;
}

}}}  // namespace pinion::v0::nn
