// Bodies of <pinion/op/resize/adaptive_pool.hpp>.
#pragma once

#include <algorithm>
#include <string>

#include <pinion/op/resize/adaptive_pool.hpp>

namespace pinion { inline namespace v0 { namespace dsl {

namespace detail {

// The places of window i of an axis: [first, end). Extents are at most 2^30, so that the products are numbers.
struct adaptive_window {
  std::int64_t first, end;
  adaptive_window(std::int64_t i, std::int64_t in, std::int64_t out)
      : first(i * in / out), end(((i + 1) * in + out - 1) / out) {}
};

inline std::int64_t longest_window(std::int64_t in, std::int64_t out) {
  std::int64_t most = 0;
  for (std::int64_t i = 0; i < out; ++i) {
    const adaptive_window w(i, in, out);
    most = std::max(most, w.end - w.first);
  }
  return most;
}

}  // namespace detail

PINION_DECL tensor<std::int32_t> adaptive_windows(std::int64_t in, std::int64_t out) {
  const std::int64_t longest = detail::longest_window(in, out);
  tensor<std::int32_t> all({out, longest});
  for (std::int64_t i = 0; i < out; ++i) {
    const detail::adaptive_window w(i, in, out);
    for (std::int64_t k = 0; k < longest; ++k)
      all.data()[i * longest + k] = static_cast<std::int32_t>(std::min(w.first + k, w.end - 1));
  }
  return all;
}

PINION_DECL tensor<double> adaptive_shares(std::int64_t in, std::int64_t out) {
  const std::int64_t longest = detail::longest_window(in, out);
  tensor<double> all({out, longest});
  for (std::int64_t i = 0; i < out; ++i) {
    const detail::adaptive_window w(i, in, out);
    const std::int64_t n = w.end - w.first;
    for (std::int64_t k = 0; k < longest; ++k) all.data()[i * longest + k] = k < n ? 1 / static_cast<double>(n) : 0;
  }
  return all;
}

PINION_DECL void expect_adaptive(const char* function, const shape& images, const std::array<std::int64_t, 2>& size) {
  const auto is_extent = [](std::int64_t n) { return n >= 1 && n <= std::int64_t{1} << 30; };
  if (images.rank() != 4 || !is_extent(images[1]) || !is_extent(images[2]))
    throw error(errc::invalid_argument, std::string(function) + " of images of shape " + to_string(images) +
                                            "; it takes [n, height, width, channels] of known heights and widths");
  if (!is_extent(size[0]) || !is_extent(size[1]))
    throw error(errc::invalid_argument, std::string(function) + " to " + std::to_string(size[0]) + " x " +
                                            std::to_string(size[1]) + "; a size is two numbers from 1 on");
}

PINION_DECL bool is_even_pool(const shape& images, const std::array<std::int64_t, 2>& size) {
  return images[1] % size[0] == 0 && images[2] % size[1] == 0;
}

PINION_DECL pool_options even_pool(const shape& images, const std::array<std::int64_t, 2>& size) {
  const std::array<std::int64_t, 2> window{images[1] / size[0], images[2] / size[1]};
  return {.window = window, .strides = window};
}

}}}  // namespace pinion::v0::dsl
