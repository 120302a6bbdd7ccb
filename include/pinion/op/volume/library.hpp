// Convolution of volumes of floats by oneDNN.
#pragma once

#include <pinion/op/conv/library.hpp>
#include <pinion/op/volume/geometry.hpp>

#if PINION_HAS_ONEDNN
#include <memory>

namespace pinion { inline namespace v0 { namespace op { namespace detail {

inline onednn_desc volumes_desc(const shape& s) {  // oneDNN's order of extents: n, channels, depth, height, width
  return {{s[0], s[4], s[1], s[2], s[3]}, dnnl::memory::data_type::f32, dnnl::memory::format_tag::ndhwc};
}
inline onednn_desc volume_filters_desc(const shape& s, dnnl::memory::format_tag layout) {
  return {{s[4], s[3], s[0], s[1], s[2]}, dnnl::memory::data_type::f32, layout};
}

// Would oneDNN write beyond its scratch memory? As in convolutions of images.
inline bool overruns_scratch(conv_pass pass, const volume_geometry& g) {
  constexpr std::int64_t channels_of_vector = 16;
  bool strided = false;
  for (const window_axis& axis : g.over.axes) strided |= axis.stride > 1;
  return pass == conv_pass::by_filters && g.window_size() == 1 && strided && g.volumes[4] < channels_of_vector;
}

inline std::shared_ptr<const onednn_call> make_convolution(conv_pass pass, const volume_geometry& g) {
  using tag = dnnl::memory::format_tag;
  std::shared_ptr<const onednn_call> made;
  calling_onednn([&] {
    onednn_window over;
    for (int axis = 0; axis < 3; ++axis) over.add(g.over.axes[static_cast<std::size_t>(axis)], g.volumes[axis + 1]);
    const onednn_tensors all{volumes_desc(g.volumes), volumes_desc(g.windows),
                             volume_filters_desc(g.filters, tag::dhwio), volume_filters_desc(g.filters, tag::any)};
    made = std::make_shared<onednn_call>(onednn_convolution(pass, all, all, over).call());
  });
  return made;
}

}}}}  // namespace pinion::v0::op::detail
#endif
