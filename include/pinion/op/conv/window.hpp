// The windows of convolutions and poolings over images [n, height, width, channels].
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include <pinion/op/shape_context.hpp>

namespace pinion::inline v0 {

// What lies around an image: `valid` nothing, so that windows lie inside; `same` as much that there are
// ceil(extent / stride) windows, the odd element at the end. As in TensorFlow.
enum class padding { valid, same };

namespace op {

// One axis of a window.
struct window_axis {
  std::int64_t extent = 1, stride = 1, dilation = 1;
  bool same = false;  // padded so that there are as many windows as strides

  std::int64_t reach() const { return (extent - 1) * dilation + 1; }
  // How many windows an image of that extent has, and what is put before and after it.
  std::int64_t outputs(std::int64_t image) const {
    if (image < 0) return unknown;
    if (same) return (image + stride - 1) / stride;
    return image < reach() ? 0 : (image - reach()) / stride + 1;
  }
  std::int64_t before(std::int64_t image) const { return around(image) / 2; }
  std::int64_t after(std::int64_t image) const { return around(image) - before(image); }

 private:
  std::int64_t around(std::int64_t image) const {
    if (!same) return 0;
    return std::max<std::int64_t>(0, (outputs(image) - 1) * stride + reach() - image);
  }
};

// Attributes "strides", "dilations" (of height and width; 1 where absent) and "padding" ("SAME" or "VALID").
struct window {
  window_axis height, width;

  window(const attributes& attrs, std::int64_t window_height, std::int64_t window_width) {
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
    for (const window_axis& axis : {height, width})
      if (axis.extent > (std::int64_t{1} << 56) / axis.dilation)
        throw error(errc::resource_exhausted, "a window of " + std::to_string(axis.extent) + " places, " +
                                                  std::to_string(axis.dilation) +
                                                  " apart, reaches further than any image");
  }

  // [n, height, width, channels] -> as many windows with `outputs` channels.
  shape over(const shape& images, std::int64_t outputs) const {
    if (!images.has_rank()) return {unknown, unknown, unknown, outputs};
    return {images[0], height.outputs(images[1]), width.outputs(images[2]), outputs};
  }
};

}  // namespace op
}  // namespace pinion::inline v0
