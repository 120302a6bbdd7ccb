// Where the rows of a resized image lie among those of the image, and its columns likewise. The formulas and their
// roundings, in float for every dtype, are those of TensorFlow (core/util/image_resizer_state.h).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include <pinion/graph/attribute.hpp>

namespace pinion { inline namespace v0 { namespace op { namespace detail {

// The two pixels around a place, which are one where the place is on it, and the share of the upper one.
struct resize_place {
  std::int64_t lower = 0, upper = 0;
  float share = 0;
};

// How one axis is resized: `in` pixels to `out` of them, both positive.
class resize_axis {
 public:
  resize_axis(const attributes& attrs, std::int64_t in, std::int64_t out)
      : in_(in),
        out_(out),
        aligns_corners_(attrs.get_or("align_corners", false)),
        has_centers_(attrs.get_or("half_pixel_centers", false)),
        scale_(aligns_corners_ && out > 1 ? static_cast<float>(in - 1) / static_cast<float>(out - 1)
                                          : static_cast<float>(in) / static_cast<float>(out)) {}

  // The nearest pixels of all places. A place in the middle of two belongs to the upper one.
  std::vector<std::int64_t> nearest() const {
    std::vector<std::int64_t> all;
    for (std::int64_t i = 0; i < out_; ++i) {
      const float place = (static_cast<float>(i) + (has_centers_ ? .5f : 0.f)) * scale_;
      all.push_back(inside(aligns_corners_ ? std::round(place) : std::floor(place)));
    }
    return all;
  }
  // The pixels around all places. Places beyond the first or the last pixel are on it.
  std::vector<resize_place> between() const {
    std::vector<resize_place> all;
    for (std::int64_t i = 0; i < out_; ++i) {
      const float number = static_cast<float>(i);
      const float place = has_centers_ ? (number + .5f) * scale_ - .5f : number * scale_;
      const float floor = std::floor(place);
      all.push_back({inside(floor), inside(std::ceil(place)), place - floor});
    }
    return all;
  }

 private:
  std::int64_t inside(float pixel) const {
    return std::clamp<std::int64_t>(static_cast<std::int64_t>(pixel), 0, in_ - 1);
  }

  const std::int64_t in_, out_;
  const bool aligns_corners_, has_centers_;
  const float scale_;
};

}}}}  // namespace pinion::v0::op::detail
