// Bodies of <pinion/op/volume/geometry.hpp>.
#pragma once

#include <algorithm>
#include <string>

#include <pinion/op/conv/op.hpp>
#include <pinion/op/volume/geometry.hpp>

namespace pinion { inline namespace v0 { namespace op { namespace detail {

PINION_DECL volume_window::volume_window(const attributes& attrs, const std::array<std::int64_t, 3>& extents) {
  const auto fits_a_volume = [](std::int64_t n) { return n >= 1 && n <= 1 << 20; };
  const auto take = [&](std::string_view name, std::int64_t window_axis::*to) {
    const integers given = attrs.get_or(name, integers{1, 1, 1});
    if (given.size() != 3 || !std::all_of(given.begin(), given.end(), fits_a_volume))
      throw error(errc::invalid_argument, "the " + std::string(name) + " of a window are three numbers from 1 on");
    for (std::size_t i = 0; i < 3; ++i) axes[i].*to = given[i];
  };
  take("strides", &window_axis::stride);
  take("dilations", &window_axis::dilation);
  const auto around = attrs.get_or("padding", std::string("VALID"));
  if (around != "SAME" && around != "VALID")
    throw error(errc::invalid_argument, "padding '" + around + "' is neither SAME nor VALID");
  for (std::size_t i = 0; i < 3; ++i) {
    axes[i].extent = extents[i];
    axes[i].same = around == "SAME";
    if (extents[i] > (std::int64_t{1} << 56) / axes[i].dilation)
      throw error(errc::resource_exhausted, "a window of " + std::to_string(extents[i]) + " places, " +
                                                std::to_string(axes[i].dilation) +
                                                " apart, reaches further than any volume");
  }
}

PINION_DECL shape volume_window::over(const shape& volumes, std::int64_t outputs) const {
  const auto along = [&](int axis) {
    return axes[static_cast<std::size_t>(axis - 1)].outputs(axis_extent(volumes, axis));
  };
  return {axis_extent(volumes, 0), along(1), along(2), along(3), outputs};
}

PINION_DECL shape convolved_volumes(const attributes& attrs, const shape& volumes, const shape& filters) {
  const std::int64_t channels = axis_extent(volumes, 4), taken = axis_extent(filters, 3);
  if (channels >= 0 && taken >= 0 && channels != taken)
    throw error(errc::invalid_argument, "volumes of shape " + to_string(volumes) + " have " + std::to_string(channels) +
                                            " channels, but filters of shape " + to_string(filters) + " take " +
                                            std::to_string(taken));
  std::array<std::int64_t, 3> extents{1, 1, 1};
  for (int axis = 0; axis < 3; ++axis) {
    const std::int64_t extent = axis_extent(filters, axis);
    if (extent == 0) throw error(errc::invalid_argument, "filters of shape " + to_string(filters));
    if (extent > 0) extents[static_cast<std::size_t>(axis)] = extent;
  }
  const volume_window over(attrs, extents);
  shape y = over.over(volumes, axis_extent(filters, 4));
  for (int axis = 0; axis < 3; ++axis)
    if (!over.axes[0].same && axis_extent(filters, axis) < 0) y.set(axis + 1, unknown);
  return y;
}

PINION_DECL volume_window window_of_pooling(const attributes& attrs) {
  const auto& extents = attrs.get<integers>("window");
  const auto fits_a_volume = [](std::int64_t n) { return n >= 1 && n <= 1 << 20; };
  if (extents.size() != 3 || !std::all_of(extents.begin(), extents.end(), fits_a_volume))
    throw error(errc::invalid_argument, "the window of a pooling of volumes is three numbers from 1 on");
  return volume_window(attrs, {extents[0], extents[1], extents[2]});
}

PINION_DECL shape pooled_volumes(const attributes& attrs, const shape& volumes) {
  return window_of_pooling(attrs).over(volumes, axis_extent(volumes, 4));
}

}}}}  // namespace pinion::v0::op::detail
