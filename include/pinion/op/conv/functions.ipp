// Bodies of <pinion/op/conv/functions.hpp>.
#pragma once

#include <string>

#include <pinion/op/conv/functions.hpp>

namespace pinion { inline namespace v0 { namespace dsl {

PINION_DECL attributes window_attributes(const std::array<std::int64_t, 2>& strides, padding around) {
  return {{"strides", integers(strides.begin(), strides.end())},
          {"padding", std::string(around == padding::same ? "SAME" : "VALID")}};
}

PINION_DECL attributes window_attributes(const std::array<std::int64_t, 2>& strides, padding around,
                                         const std::array<std::int64_t, 2>& dilations) {
  attributes attrs = window_attributes(strides, around);
  attrs.set("dilations", integers(dilations.begin(), dilations.end()));
  return attrs;
}

PINION_DECL attributes window_attributes(const pool_options& o) {
  attributes attrs = window_attributes(o.strides, o.padding);
  attrs.set("window", integers(o.window.begin(), o.window.end()));
  if (o.ceil_mode) attrs.set("ceil_mode", true);
  return attrs;
}

PINION_DECL attributes window_attributes(const conv2d_transpose_options& o) {
  attributes attrs = window_attributes(o.strides, o.padding, o.dilations);
  if (o.sizes) attrs.set("sizes", integers(o.sizes->begin(), o.sizes->end()));
  return attrs;
}

PINION_DECL void expect_groups(const shape& images, const shape& filters, std::int64_t groups) {
  if (groups < 1)
    throw error(errc::invalid_argument, "a convolution of " + std::to_string(groups) + " groups; it has 1 or more");
  if (images.rank() != 4 || filters.rank() != 4 || images[3] < 0 || filters[2] < 0) return;
  const bool fits = images[3] % groups == 0 && images[3] / groups == filters[2];
  if (fits && (filters[3] < 0 || filters[3] % groups == 0)) return;
  const std::string in_groups = groups == 1 ? "" : " in each of " + std::to_string(groups) + " groups";
  if (!fits)
    throw error(errc::invalid_argument, "images of shape " + to_string(images) + " have " + std::to_string(images[3]) +
                                            " channels, but filters of shape " + to_string(filters) + " take " +
                                            std::to_string(filters[2]) + in_groups);
  throw error(errc::invalid_argument, "filters of shape " + to_string(filters) + " make " + std::to_string(filters[3]) +
                                          " channels, which are not as many" + in_groups);
}

PINION_DECL shape filters_of_groups(const shape& images, const shape& filters) {
  const bool known = filters.rank() == 4 && filters.count() >= 0;
  const bool fits = known && (images.rank() != 4 || images[3] < 0 || images[3] == filters[2]);
  if (!fits)
    throw error(errc::invalid_argument, "images of shape " + to_string(images) + " and filters of shape " +
                                            to_string(filters) +
                                            ": a depthwise convolution takes filters [height, width, channels, "
                                            "multiplier] of known extents, for as many channels as the images have");
  return {filters[0], filters[1], 1, filters[2] * filters[3]};
}

PINION_DECL conv2d_transpose_options sized(conv2d_transpose_options o, const shape& result, const shape& x,
                                           const shape& filters) {
  const std::int64_t n = x.rank() == 4 ? x[0] : unknown, channels = filters.rank() == 4 ? filters[2] : unknown;
  if (result.rank() != 4 || result[1] < 0 || result[2] < 0 || !fits(result, {n, result[1], result[2], channels}))
    throw error(errc::invalid_argument,
                "a transposed convolution of " + to_string(x) + " by filters of shape " + to_string(filters) +
                    " does not yield the shape " + to_string(result) +
                    ": it is {n, height, width, channels}, with n of the operand and channels of the filters' third "
                    "axis, and heights and widths are known");
  o.sizes = {result[1], result[2]};
  return o;
}

PINION_DECL void expect_sequence(const char* function, const shape& x) {
  if (x.has_rank() && x.rank() != 3)
    throw error(errc::invalid_argument,
                std::string(function) + " of shape " + to_string(x) + "; it takes sequences [n, length, channels]");
}

}}}  // namespace pinion::v0::dsl
