// Bodies of <pinion/op/conv/window.hpp>.
#pragma once

#include <algorithm>
#include <string>

#include <pinion/op/conv/window.hpp>

namespace pinion { inline namespace v0 { namespace op {

PINION_DECL std::int64_t window_axis::outputs(std::int64_t image) const {
  if (image < 0) return unknown;
  if (same) return (image + stride - 1) / stride;
  if (image < reach()) return ceil && reach() - image < stride && image > 0 ? 1 : 0;
  const std::int64_t last = (image - reach()) / stride;
  // A window that reaches beyond the image begins inside, as in PyTorch.
  const bool is_left_out = last * stride + reach() < image && (last + 1) * stride < image;
  return last + 1 + (ceil && is_left_out ? 1 : 0);
}

PINION_DECL std::int64_t window_axis::around(std::int64_t image) const {
  if (!same && !ceil) return 0;
  return std::max<std::int64_t>(0, (outputs(image) - 1) * stride + reach() - image);
}

PINION_DECL std::int64_t window_axis::end_inside(std::int64_t begin, std::int64_t image) const {
  return begin < image ? std::min(extent, (image - begin + dilation - 1) / dilation) : 0;
}

PINION_DECL window::window(const attributes& attrs, std::int64_t window_height, std::int64_t window_width) {
  height.extent = window_height;
  width.extent = window_width;
  const auto take = [&](std::string_view name, std::int64_t window_axis::*to) {
    const integers given = attrs.get_or(name, integers{1, 1});
    if (given.size() != 2 || given[0] < 1 || given[1] < 1 || given[0] > 1 << 20 || given[1] > 1 << 20)
      throw error(errc::invalid_argument, "the " + std::string(name) + " of a window are two numbers from 1 on");
    height.*to = given[0];
    width.*to = given[1];
  };
  take("strides", &window_axis::stride);
  take("dilations", &window_axis::dilation);
  const auto around = attrs.get_or("padding", std::string("VALID"));
  if (around != "SAME" && around != "VALID")
    throw error(errc::invalid_argument, "padding '" + around + "' is neither SAME nor VALID");
  height.same = width.same = around == "SAME";
  height.ceil = width.ceil = attrs.get_or("ceil_mode", false);
  if (height.same && height.ceil)
    throw error(errc::invalid_argument, "padding SAME leaves no element out, so ceil_mode is for padding VALID");
  for (const window_axis& axis : {height, width})
    if (axis.extent > (std::int64_t{1} << 56) / axis.dilation)
      throw error(errc::resource_exhausted, "a window of " + std::to_string(axis.extent) + " places, " +
                                                std::to_string(axis.dilation) +
                                                " apart, reaches further than any image");
}

PINION_DECL shape window::over(const shape& images, std::int64_t outputs) const {
  if (!images.has_rank()) return {unknown, unknown, unknown, outputs};
  return {images[0], height.outputs(images[1]), width.outputs(images[2]), outputs};
}

}}}  // namespace pinion::v0::op
