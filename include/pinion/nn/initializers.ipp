// Bodies of <pinion/nn/initializers.hpp>.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>

#include <pinion/base/number_text.hpp>
#include <pinion/nn/initializers.hpp>

namespace pinion { inline namespace v0 { namespace nn {

PINION_DECL fans fans_of(const shape& extent) {
  const int rank = extent.rank();
  if (rank < 1) return {};
  if (rank == 1) return {static_cast<double>(extent[0]), static_cast<double>(extent[0])};
  double window = 1;
  for (int i = 0; i < rank - 2; ++i) window *= static_cast<double>(extent[i]);
  return {window * static_cast<double>(extent[rank - 2]), window * static_cast<double>(extent[rank - 1])};
}

PINION_DECL initializer::row_block::row_block(const shape& whole, std::int64_t first, std::int64_t count)
    : extent(whole) {
  extent.set(0, 1);
  begin = first * extent.count();
  extent.set(0, count);
}

template <element T>
any_expr initializer::drawn(const shape& whole, std::int64_t begin, const shape& extent, source_location where) const {
  if (draws_ == kind::constant) return fill<T>(extent, static_cast<T>(low_), {}, where);
  if (draws_ == kind::between)
    return random_uniform<T>(extent, {.minval = low_, .maxval = high_, .seed = o_.seed, .first = begin}, where);
  const fans f = fans_of(whole);
  const double n = o_.mode == fan::in ? f.in : o_.mode == fan::out ? f.out : (f.in + f.out) / 2;
  const double variance = o_.scale / std::max(1.0, n);
  if (o_.distribution == nn::distribution::uniform) {
    const double limit = std::sqrt(3 * variance);
    return random_uniform<T>(extent, {.minval = -limit, .maxval = limit, .seed = o_.seed, .first = begin}, where);
  }
  if (o_.distribution == nn::distribution::normal)
    return random_normal<T>(extent, {.stddev = std::sqrt(variance), .seed = o_.seed, .first = begin}, where);
  constexpr double cut = .87962566103423978;  // standard deviation of a normal truncated at +-2
  return truncated_normal<T>(extent, {.stddev = std::sqrt(variance) / cut, .seed = o_.seed, .first = begin}, where);
}

PINION_DECL any_expr initializer::elements_of(dtype type, const shape& whole, std::int64_t begin, const shape& extent,
                                              source_location where) const {
  if (!whole.known())
    throw error(errc::invalid_argument, "weights of shape " + to_string(whole) + ": the shape must be known");
  return type == dtype::float32 ? drawn<float>(whole, begin, extent, where)
                                : drawn<double>(whole, begin, extent, where);
}

PINION_DECL initializer initializer::all(double value) {
  initializer i;
  i.draws_ = kind::constant;
  i.low_ = value;
  return i;
}

PINION_DECL initializer initializer::between(double low, double high, std::int64_t seed) {
  if (!(low <= high))
    throw error(errc::invalid_argument,
                "an initializer of numbers in [" + number_text(low) + ", " + number_text(high) + "): there are none");
  initializer i;
  i.draws_ = kind::between;
  i.low_ = low;
  i.high_ = high;
  i.o_.seed = seed;
  return i;
}

PINION_DECL initializer::initializer(const variance_scaling_options& o) : o_(o) {
  if (!(o.scale > 0))
    throw error(errc::invalid_argument, "an initializer of scale " + number_text(o.scale) + "; it must be positive");
}

}}}  // namespace pinion::v0::nn
