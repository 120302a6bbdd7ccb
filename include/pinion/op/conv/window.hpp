// The windows of a convolution or pooling over images [n, height, width, channels].
#pragma once

#include <cstdint>

#include <pinion/base/config.hpp>
#include <pinion/graph/attribute.hpp>

namespace pinion { inline namespace v0 {

// The padding of an image. `valid`: none, so windows lie inside the image. `same`: as much as makes ceil(extent /
// stride) windows, with the odd element at the end. As in TensorFlow.
enum class padding { valid, same };

namespace op {

// A window along one axis: its extent, stride and dilation.
struct window_axis {
  std::int64_t extent = 1, stride = 1, dilation = 1;
  bool same = false;  // padded to one window per stride
  bool ceil = false;  // padded at the end, such that the last elements have a window

  std::int64_t reach() const { return (extent - 1) * dilation + 1; }
  // The number of windows over an image of that extent, and the padding before and after it.
  std::int64_t outputs(std::int64_t image) const;
  std::int64_t before(std::int64_t image) const { return same ? around(image) / 2 : 0; }
  std::int64_t after(std::int64_t image) const { return around(image) - before(image); }
  // The places of a window that begins at `begin`, maybe in the padding, which lie inside an image: [first, end).
  std::int64_t first_inside(std::int64_t begin) const { return begin < 0 ? (dilation - 1 - begin) / dilation : 0; }
  std::int64_t end_inside(std::int64_t begin, std::int64_t image) const;

 private:
  std::int64_t around(std::int64_t image) const;
};

// A window of a node. Its attributes are "strides" and "dilations" (of height and width, by default 1), "padding"
// ("SAME" or "VALID") and "ceil_mode". Throws invalid_argument for others.
struct window {
  window_axis height, width;

  window(const attributes& attrs, std::int64_t window_height, std::int64_t window_width);

  // The shape of the result over images [n, height, width, channels], with `outputs` channels.
  shape over(const shape& images, std::int64_t outputs) const;
};

}  // namespace op
}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/op/conv/window.ipp>
#endif
