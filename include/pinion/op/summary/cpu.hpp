// Kernels of the summary ops. They run on the host, on whatever device their inputs were computed.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <pinion/op/summary/message.hpp>
#include <pinion/op/summary/op.hpp>
#include <pinion/opkit/kernel.hpp>

namespace pinion { inline namespace v0 { namespace op {

namespace detail {

// Makes a kernel that yields the text which `encode` makes of its inputs.
template <class Encode>
std::unique_ptr<kernel> make_summary_kernel(Encode encode, bool expensive = false) {
  check_messages_can_be_made();
  return make_function_kernel(
      [encode](kernel_context& c) {
        const std::vector<any_tensor> inputs(c.inputs.begin(), c.inputs.end());
        const any_tensor y = c.allocate(0, dtype::string, {});
        c.launch([=] { *y.data<std::string>() = encode(inputs); });
      },
      expensive);
}

inline const std::string& tag_of(const kernel_setup& setup) {
  return setup.attrs().get<std::string>("tag");
}

inline float number_of(const any_tensor& x) {
  if (x.shape().rank() != 0)
    throw error(errc::invalid_argument, "a scalar summary of a tensor of shape " + to_string(x.shape()) +
                                            "; it takes one number, and a histogram takes many");
  return visit_plain(x.dtype(), [&]<class T>() { return static_cast<float>(*x.data<T>()); });
}

inline histogram histogram_of(const any_tensor& x, const std::string& tag, bool counted) {
  histogram h;
  visit_plain(x.dtype(), [&]<class T>() {
    for (std::int64_t i = 0; i < x.count(); ++i) {
      const auto value = static_cast<double>(x.data<T>()[i]);
      if (!std::isfinite(value))
        throw error(errc::invalid_argument,
                    (std::isnan(value) ? "Nan" : "Infinity") + (" in summary histogram for: " + tag) + " (element " +
                        std::to_string(i) + " of a tensor of shape " + to_string(x.shape()) + ")");
      if (counted && value < 0)
        throw error(errc::invalid_argument, "summary histogram " + tag + " is told that " + std::to_string(i) +
                                                " was there less than no times");
      if (!counted) h.add(value);
      if (counted && value > 0) h.add(static_cast<double>(i), value);
    }
  });
  return h;
}

inline std::uint32_t pixels_along(const shape& images, int axis) {
  if (images[axis] > std::numeric_limits<std::int32_t>::max())
    throw error(errc::invalid_argument, "images of shape " + to_string(images) + " are more than a summary holds");
  return static_cast<std::uint32_t>(images[axis]);
}

// Converts pixels to bytes. A pixel with a channel that is not finite becomes red.
template <class T>
void paint(const T* from, std::int64_t pixels, int channels, char* to) {
  for (std::int64_t p = 0; p < pixels; ++p, from += channels, to += channels) {
    const bool finite = std::all_of(from, from + channels, [](T x) { return std::isfinite(x); });
    for (int c = 0; c < channels; ++c) {
      const T level = finite ? std::clamp(from[c], T(0), T(1)) : T(c == 0 || c == 3);
      to[c] = static_cast<char>(static_cast<std::uint8_t>(level * 255 + T(.5)));
    }
  }
}

// Image i of a batch. Requires: x is as image_summary takes it, and i < x.shape()[0].
inline picture picture_of(const any_tensor& x, std::int64_t i) {
  const shape& extent = x.shape();
  picture p{pixels_along(extent, 2), pixels_along(extent, 1), static_cast<int>(extent[3]), {}};
  const std::int64_t pixels = extent[1] * extent[2], n = pixels * p.channels;
  p.pixels.resize(static_cast<std::size_t>(n));
  visit_plain(x.dtype(), [&]<class T>() {
    const T* const from = x.data<T>() + i * n;
    if constexpr (std::is_floating_point_v<T>)
      paint(from, pixels, p.channels, p.pixels.data());
    else
      std::transform(from, from + n, p.pixels.begin(), [](T level) { return static_cast<char>(level); });
  });
  return p;
}

inline std::string images_message(const any_tensor& x, const std::string& tag, std::int64_t most) {
  const shape& extent = x.shape();
  const std::int64_t channels = extent.rank() == 4 ? extent[3] : 0;
  if (channels != 1 && channels != 3 && channels != 4)
    throw error(errc::invalid_argument, "a tensor of shape " + to_string(extent) +
                                            " is taken for images [n, height, width, channels] of 1, 3 or 4 channels");
  std::string all;
  for (std::int64_t i = 0; i < std::min(most, extent[0]); ++i)
    all += image_message(tag + "/image" + (most == 1 ? "" : "/" + std::to_string(i)), picture_of(x, i));
  return all;
}

}  // namespace detail

inline std::unique_ptr<kernel> make_kernel(scalar_summary, const kernel_setup& setup) {
  return detail::make_summary_kernel(
      [tag = detail::tag_of(setup)](const auto& in) { return scalar_message(tag, detail::number_of(in[0])); });
}

inline std::unique_ptr<kernel> make_kernel(histogram_summary, const kernel_setup& setup) {
  return detail::make_summary_kernel(
      [tag = detail::tag_of(setup), counted = setup.attrs().get_or("counted", false)](const auto& in) {
        return histogram_message(tag, detail::histogram_of(in[0], tag, counted));
      },
      true);
}

inline std::unique_ptr<kernel> make_kernel(image_summary, const kernel_setup& setup) {
  return detail::make_summary_kernel(
      [tag = detail::tag_of(setup), most = setup.attrs().get<std::int64_t>("max_images")](const auto& in) {
        return detail::images_message(in[0], tag, most);
      },
      true);
}

inline std::unique_ptr<kernel> make_kernel(text_summary, const kernel_setup& setup) {
  return detail::make_summary_kernel(
      [tag = detail::tag_of(setup)](const auto& in) { return text_message(tag, in[0]); });
}

inline std::unique_ptr<kernel> make_kernel(merge_summary, const kernel_setup&) {
  return detail::make_summary_kernel([](const auto& in) {
    std::vector<std::string_view> parts;
    for (const any_tensor& strings : in)
      parts.insert(parts.end(), strings.template data<std::string>(),
                   strings.template data<std::string>() + strings.count());
    return merged_message(parts);
  });
}

}}}  // namespace pinion::v0::op
