// Bodies of <pinion/dsl/initializers.hpp>.
#pragma once

#include <string>

#include <pinion/dsl/initializers.hpp>

namespace pinion::inline v0::nn {

PINION_DECL fans fans_of(const shape& extent) {
  const int rank = extent.rank();
  if (rank < 1) return {};
  if (rank == 1) return {static_cast<double>(extent[0]), static_cast<double>(extent[0])};
  double window = 1;
  for (int i = 0; i < rank - 2; ++i) window *= static_cast<double>(extent[i]);
  return {window * static_cast<double>(extent[rank - 2]), window * static_cast<double>(extent[rank - 1])};
}

PINION_DECL initializer initializer::all(double value) {
  initializer i;
  i.draws_ = kind::constant;
  i.low_ = value;
  return i;
}

PINION_DECL initializer initializer::between(double low, double high, std::int64_t seed) {
  if (!(low <= high))
    throw error(errc::invalid_argument, "an initializer of numbers in [" + std::to_string(low) + ", " +
                                            std::to_string(high) + "): there are none");
  initializer i;
  i.draws_ = kind::between;
  i.low_ = low;
  i.high_ = high;
  i.o_.seed = seed;
  return i;
}

PINION_DECL initializer::initializer(const variance_scaling_options& o) : o_(o) {
  if (!(o.scale > 0))
    throw error(errc::invalid_argument, "an initializer of scale " + std::to_string(o.scale) + "; it must be positive");
}

}  // namespace pinion::inline v0::nn
