// The extents of one convolution or pooling of volumes.
#pragma once

#include <array>
#include <cstdint>

#include <pinion/base/config.hpp>
#include <pinion/graph/attribute.hpp>
#include <pinion/op/conv/geometry.hpp>
#include <pinion/op/conv/window.hpp>
#include <pinion/tensor/shape.hpp>

namespace pinion { inline namespace v0 { namespace op { namespace detail {

// A window of a node along depth, height and width.
struct volume_window {
  std::array<window_axis, 3> axes;

  // Reads "strides", "dilations" and "padding". Throws invalid_argument for others than they may be.
  volume_window(const attributes& attrs, const std::array<std::int64_t, 3>& extents);
  // The shape of the result over volumes, with `outputs` channels.
  shape over(const shape& volumes, std::int64_t outputs) const;
};

// The shape of a convolution of volumes with filters, as far as it is known; and of a pooling. Throw invalid_argument
// where nothing fits.
shape convolved_volumes(const attributes& attrs, const shape& volumes, const shape& filters);
volume_window window_of_pooling(const attributes& attrs);
shape pooled_volumes(const attributes& attrs, const shape& volumes);

// The extents of volumes [n, d, h, w, c], filters [p, q, r, c, o] (none for a pooling) and windows [n, d', h', w', o];
// all known.
struct volume_geometry {
  shape volumes, filters, windows;
  volume_window over;

  friend bool operator==(const volume_geometry& a, const volume_geometry& b) {
    return a.volumes == b.volumes && a.filters == b.filters && a.windows == b.windows;
  }
  volume_geometry part(std::int64_t volumes_of_it) const {
    volume_geometry g = *this;
    g.volumes.set(0, volumes_of_it);
    g.windows.set(0, volumes_of_it);
    return g;
  }
  const shape& result(conv_pass pass) const {
    return pass == conv_pass::forward ? windows : pass == conv_pass::by_images ? volumes : filters;
  }
  bool nothing() const { return volumes.count() == 0 || windows.count() == 0 || filters.count() == 0; }
  std::int64_t volume_size() const { return volumes[1] * volumes[2] * volumes[3] * volumes[4]; }
  std::int64_t windows_size() const { return windows[1] * windows[2] * windows[3] * windows[4]; }
  std::int64_t window_size() const { return over.axes[0].extent * over.axes[1].extent * over.axes[2].extent; }
};

// Calls f(place of the volume, place of the window) for each element of a window that lies inside the volume: their
// numbers, without channels.
template <class F>
void for_each_place(const volume_geometry& g, const std::array<std::int64_t, 3>& window, F&& f) {
  std::array<std::int64_t, 3> begin, first, end;
  for (int axis = 0; axis < 3; ++axis) {
    const auto i = static_cast<std::size_t>(axis);
    const window_axis& of = g.over.axes[i];
    begin[i] = window[i] * of.stride - of.before(g.volumes[axis + 1]);
    first[i] = of.first_inside(begin[i]), end[i] = of.end_inside(begin[i], g.volumes[axis + 1]);
  }
  const auto at = [&](std::size_t i, std::int64_t p) { return begin[i] + p * g.over.axes[i].dilation; };
  for (std::int64_t p = first[0]; p < end[0]; ++p)
    for (std::int64_t q = first[1]; q < end[1]; ++q)
      for (std::int64_t r = first[2]; r < end[2]; ++r)
        f((at(0, p) * g.volumes[2] + at(1, q)) * g.volumes[3] + at(2, r),
          (p * g.over.axes[1].extent + q) * g.over.axes[2].extent + r);
}

}}}}  // namespace pinion::v0::op::detail

#if PINION_HEADER_ONLY
#include <pinion/op/volume/geometry.ipp>
#endif
