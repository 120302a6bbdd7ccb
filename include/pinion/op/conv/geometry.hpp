// The extents of one convolution or pooling.
#pragma once

#include <pinion/op/conv/window.hpp>
#include <pinion/tensor/shape.hpp>

namespace pinion { inline namespace v0 { namespace op { namespace detail {

enum class conv_pass { forward, by_images, by_filters };

// The extents of images [n, h, w, c], filters [p, q, c / groups, o] (none for a pooling) and windows [n, h', w', o];
// all known.
struct image_geometry {
  shape images, filters, windows;
  window over;

  friend bool operator==(const image_geometry& a, const image_geometry& b) {
    return a.images == b.images && a.filters == b.filters && a.windows == b.windows;
  }
  // The geometry of some of the images.
  image_geometry part(std::int64_t images_of_it) const {
    image_geometry g = *this;
    g.images.set(0, images_of_it);
    g.windows.set(0, images_of_it);
    return g;
  }
  // The groups of channels of a convolution of something.
  std::int64_t groups() const { return images[3] / filters[2]; }
  // The geometry of one of the groups.
  image_geometry one_group() const {
    image_geometry g = *this;
    g.images.set(3, filters[2]);
    g.filters.set(3, filters[3] / groups());
    g.windows.set(3, filters[3] / groups());
    return g;
  }
  const shape& result(conv_pass pass) const {
    return pass == conv_pass::forward ? windows : pass == conv_pass::by_images ? images : filters;
  }
  bool nothing() const { return images.count() == 0 || windows.count() == 0 || filters.count() == 0; }
  std::int64_t image_size() const { return images[1] * images[2] * images[3]; }
  std::int64_t windows_size() const { return windows[1] * windows[2] * windows[3]; }
};

// Calls f(row of the image, row of the window, column..., column...) for each element of window (i, j) inside the
// image.
template <class F>
void for_each_place(const image_geometry& g, std::int64_t i, std::int64_t j, F&& f) {
  const auto &h = g.over.height, &w = g.over.width;
  const std::int64_t top = i * h.stride - h.before(g.images[1]), left = j * w.stride - w.before(g.images[2]);
  for (std::int64_t p = h.first_inside(top); p < h.end_inside(top, g.images[1]); ++p)
    for (std::int64_t q = w.first_inside(left); q < w.end_inside(left, g.images[2]); ++q)
      f(top + p * h.dilation, left + q * w.dilation, p, q);
}

}}}}  // namespace pinion::v0::op::detail
