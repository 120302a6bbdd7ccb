// The windows of convolutions and poolings over images [n, height, width, channels].
#pragma once

#include <cstdint>

#include <pinion/base/config.hpp>
#include <pinion/graph/attribute.hpp>

namespace pinion { inline namespace v0 {

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
  std::int64_t outputs(std::int64_t image) const;
  std::int64_t before(std::int64_t image) const { return around(image) / 2; }
  std::int64_t after(std::int64_t image) const { return around(image) - before(image); }

 private:
  std::int64_t around(std::int64_t image) const;
};

// Attributes "strides", "dilations" (of height and width; 1 where absent) and "padding" ("SAME" or "VALID").
struct window {
  window_axis height, width;

  window(const attributes& attrs, std::int64_t window_height, std::int64_t window_width);

  // [n, height, width, channels] -> as many windows with `outputs` channels.
  shape over(const shape& images, std::int64_t outputs) const;
};

}  // namespace op
}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/op/conv/window.ipp>
#endif
