// Convolution and pooling of floats by oneDNN, versions 2 and 3.
#pragma once

#include <pinion/op/conv/geometry.hpp>
#include <pinion/op/matmul/onednn.hpp>

#if PINION_HAS_ONEDNN
#include <memory>
#include <vector>

#include <oneapi/dnnl/dnnl.hpp>

namespace pinion { inline namespace v0 { namespace op { namespace detail {

using onednn_type = dnnl::memory::data_type;

inline onednn_desc images_desc(const shape& s, onednn_type type = onednn_type::f32) {
  return {{s[0], s[3], s[1], s[2]}, type, dnnl::memory::format_tag::nhwc};  // in oneDNN's order of extents
}
// Filters are [out, in, h, w] for oneDNN, and [groups, out of a group, in, h, w] where there are several.
inline onednn_desc filters_desc(const image_geometry& g, bool is_free, onednn_type type = onednn_type::f32) {
  using tag = dnnl::memory::format_tag;
  const shape& s = g.filters;
  const std::int64_t groups = g.groups();
  if (groups == 1) return {{s[3], s[2], s[0], s[1]}, type, is_free ? tag::any : tag::hwio};
  return {{groups, s[3] / groups, s[2], s[0], s[1]}, type, is_free ? tag::any : tag::hwigo};
}

// The extents of a window in the form that oneDNN takes.
struct onednn_window {
  dnnl::memory::dims strides, dilations, before, after, extents;

  explicit onednn_window(const image_geometry& g) {
    for (const auto& [axis, image] : {std::pair(g.over.height, g.images[1]), std::pair(g.over.width, g.images[2])}) {
      strides.push_back(axis.stride);
      dilations.push_back(axis.dilation - 1);
      before.push_back(axis.before(image));
      after.push_back(axis.after(image));
      extents.push_back(axis.extent);
    }
  }
};

// Would oneDNN write beyond its scratch memory? Its kernel for windows of one element copies images of few channels to
// it, where strides leave elements out (uxlfoundation/oneDNN 6035), and it has no other for these shapes. Groups have
// few channels each.
inline bool overruns_scratch(conv_pass pass, const image_geometry& g) {
  constexpr std::int64_t channels_of_vector = 16;
  const window_axis &h = g.over.height, &w = g.over.width;
  return pass == conv_pass::by_filters && h.extent == 1 && w.extent == 1 && (h.stride > 1 || w.stride > 1) &&
         (g.images[3] < channels_of_vector || g.groups() > 1);
}

// Makes the description of a primitive that takes the forward description as a hint.
template <class Primitive, class Hint, class... Argument>
typename Primitive::primitive_desc onednn_backward(const dnnl::primitive_attr& attr, const Hint& hint,
                                                   const Argument&... arguments) {
#if DNNL_VERSION_MAJOR >= 3
  return typename Primitive::primitive_desc(onednn_engine(), arguments..., hint, attr);
#else
  return typename Primitive::primitive_desc(typename Primitive::desc(arguments...), attr, onednn_engine(), hint);
#endif
}

// The parts of a convolution of floats: descriptions of its tensors as they are here and, with their types, as oneDNN
// takes them, and of its forward pass. Operands may be rounded to bfloat16, and the result is float.
struct onednn_convolution {
  using forward_desc = dnnl::convolution_forward::primitive_desc;
  static constexpr auto direct = dnnl::algorithm::convolution_direct;

  onednn_desc images, windows, filters;
  onednn_desc taken_images, taken_windows, taken_filters;  // oneDNN chooses the layout of the last
  onednn_window w;
  dnnl::primitive_attr attr = scratch_of_caller();

  onednn_convolution(conv_pass pass, const image_geometry& g, onednn_type operands)
      : images(images_desc(g.images)),
        windows(images_desc(g.windows)),
        filters(filters_desc(g, false)),
        taken_images(images_desc(g.images, pass == conv_pass::by_images ? onednn_type::f32 : operands)),
        taken_windows(images_desc(g.windows, pass == conv_pass::forward ? onednn_type::f32 : operands)),
        taken_filters(filters_desc(g, true, pass == conv_pass::by_filters ? onednn_type::f32 : operands)),
        w(g) {}

  forward_desc forward(const onednn_desc& from, const onednn_desc& by) const {
    return onednn_description<dnnl::convolution_forward>(attr, dnnl::prop_kind::forward_training, direct, from, by,
                                                         taken_windows, w.strides, w.dilations, w.before, w.after);
  }
  // The hint is the forward pass of operands of one type.
  template <class Primitive>
  typename Primitive::primitive_desc backward(const image_geometry& g, onednn_type operands) const {
    const forward_desc hint = forward(images_desc(g.images, operands), filters_desc(g, true, operands));
    return onednn_backward<Primitive>(attr, hint, direct, taken_images, taken_filters, taken_windows, w.strides,
                                      w.dilations, w.before, w.after);
  }

  onednn_call forwards() const {
    const forward_desc made = forward(taken_images, taken_filters);
    return {dnnl::convolution_forward(made),
            {{DNNL_ARG_SRC, images, made.src_desc()},
             {DNNL_ARG_WEIGHTS, filters, made.weights_desc()},
             {DNNL_ARG_DST, windows, made.dst_desc(), true}},
            made.scratchpad_desc()};
  }
  onednn_call by_images(const image_geometry& g, onednn_type operands) const {
    const auto back = backward<dnnl::convolution_backward_data>(g, operands);
    return {dnnl::convolution_backward_data(back),
            {{DNNL_ARG_DIFF_DST, windows, back.diff_dst_desc()},
             {DNNL_ARG_WEIGHTS, filters, back.weights_desc()},
             {DNNL_ARG_DIFF_SRC, images, back.diff_src_desc(), true}},
            back.scratchpad_desc()};
  }
  onednn_call by_filters(const image_geometry& g, onednn_type operands) const {
    const auto back = backward<dnnl::convolution_backward_weights>(g, operands);
    return {dnnl::convolution_backward_weights(back),
            {{DNNL_ARG_SRC, images, back.src_desc()},
             {DNNL_ARG_DIFF_DST, windows, back.diff_dst_desc()},
             {DNNL_ARG_DIFF_WEIGHTS, filters, back.diff_weights_desc(), true}},
            back.scratchpad_desc()};
  }
};

// A pass whose operands are rounded to bfloat16, if `narrow`.
inline std::shared_ptr<const onednn_call> make_convolution(conv_pass pass, const image_geometry& g, bool narrow) {
  const onednn_type operands = narrow ? onednn_type::bf16 : onednn_type::f32;
  std::shared_ptr<const onednn_call> made;
  calling_onednn([&] {
    const onednn_convolution c(pass, g, operands);
    made = std::make_shared<onednn_call>(pass == conv_pass::forward     ? c.forwards()
                                         : pass == conv_pass::by_images ? c.by_images(g, operands)
                                                                        : c.by_filters(g, operands));
  });
  return made;
}

inline std::shared_ptr<const onednn_call> make_pooling(bool mean, const image_geometry& g) {
  std::shared_ptr<const onednn_call> made;
  calling_onednn([&] {
    const onednn_desc x = images_desc(g.images), y = images_desc(g.windows);
    const onednn_window w(g);
    const auto how = mean ? dnnl::algorithm::pooling_avg_exclude_padding : dnnl::algorithm::pooling_max;
#if DNNL_VERSION_MAJOR >= 3
    const auto forward =
        onednn_description<dnnl::pooling_forward>(scratch_of_caller(), dnnl::prop_kind::forward_inference, how, x, y,
                                                  w.strides, w.extents, w.dilations, w.before, w.after);
#else
    const auto forward = onednn_description<dnnl::pooling_forward>(
        scratch_of_caller(), dnnl::prop_kind::forward_inference, how, x, y, w.strides, w.extents, w.before, w.after);
#endif
    made = std::make_shared<onednn_call>(dnnl::pooling_forward(forward),
                                         std::vector<onednn_call::operand>{{DNNL_ARG_SRC, x, forward.src_desc()},
                                                                           {DNNL_ARG_DST, y, forward.dst_desc(), true}},
                                         forward.scratchpad_desc());
  });
  return made;
}

}}}}  // namespace pinion::v0::op::detail
#endif
