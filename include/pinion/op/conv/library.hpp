// Convolution and pooling of floats by oneDNN, versions 2 and 3.
#pragma once

#include <pinion/op/conv/geometry.hpp>
#include <pinion/op/matmul/onednn.hpp>

#if PINION_HAS_ONEDNN
#include <memory>
#include <mutex>
#include <utility>
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

  onednn_window() = default;
  explicit onednn_window(const image_geometry& g) {
    add(g.over.height, g.images[1]);
    add(g.over.width, g.images[2]);
  }
  // Adds the next axis, along which images have that extent.
  void add(const window_axis& axis, std::int64_t image) {
    strides.push_back(axis.stride);
    dilations.push_back(axis.dilation - 1);
    before.push_back(axis.before(image));
    after.push_back(axis.after(image));
    extents.push_back(axis.extent);
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

// The tensors of a convolution, of one type of elements. oneDNN chooses the layout of the last.
struct onednn_tensors {
  onednn_desc images, windows, filters, free_filters;
};
inline onednn_tensors tensors_of(const image_geometry& g, onednn_type type) {
  return {images_desc(g.images, type), images_desc(g.windows, type), filters_desc(g, false, type),
          filters_desc(g, true, type)};
}

// The parts of a pass of a convolution: its tensors as they are here, which are floats, and as oneDNN takes them. Its
// operands may be rounded to another type, and the result is float.
class onednn_convolution {
 public:
  onednn_convolution(conv_pass pass, const onednn_tensors& here, const onednn_tensors& rounded, onednn_window over)
      : pass_(pass),
        here_(here),
        rounded_(rounded),
        images_(pass == conv_pass::by_images ? here.images : rounded.images),
        windows_(pass == conv_pass::forward ? here.windows : rounded.windows),
        filters_(pass == conv_pass::by_filters ? here.free_filters : rounded.free_filters),
        w_(std::move(over)) {}

  onednn_call call() const {
    return pass_ == conv_pass::forward ? forwards() : pass_ == conv_pass::by_images ? by_images() : by_filters();
  }

 private:
  using forward_desc = dnnl::convolution_forward::primitive_desc;
  static constexpr auto direct = dnnl::algorithm::convolution_direct;

  forward_desc forward(const onednn_desc& from, const onednn_desc& by) const {
    return onednn_description<dnnl::convolution_forward>(attr_, dnnl::prop_kind::forward_training, direct, from, by,
                                                         windows_, w_.strides, w_.dilations, w_.before, w_.after);
  }
  // The hint is the forward pass of operands of one type.
  template <class Primitive>
  typename Primitive::primitive_desc backward() const {
    return onednn_backward<Primitive>(attr_, forward(rounded_.images, rounded_.free_filters), direct, images_, filters_,
                                      windows_, w_.strides, w_.dilations, w_.before, w_.after);
  }

  onednn_call forwards() const {
    const forward_desc made = forward(images_, filters_);
    return {dnnl::convolution_forward(made),
            {{DNNL_ARG_SRC, here_.images, made.src_desc()},
             {DNNL_ARG_WEIGHTS, here_.filters, made.weights_desc()},
             {DNNL_ARG_DST, here_.windows, made.dst_desc(), true}},
            made.scratchpad_desc()};
  }
  onednn_call by_images() const {
    const auto back = backward<dnnl::convolution_backward_data>();
    return {dnnl::convolution_backward_data(back),
            {{DNNL_ARG_DIFF_DST, here_.windows, back.diff_dst_desc()},
             {DNNL_ARG_WEIGHTS, here_.filters, back.weights_desc()},
             {DNNL_ARG_DIFF_SRC, here_.images, back.diff_src_desc(), true}},
            back.scratchpad_desc()};
  }
  onednn_call by_filters() const {
    const auto back = backward<dnnl::convolution_backward_weights>();
    return {dnnl::convolution_backward_weights(back),
            {{DNNL_ARG_SRC, here_.images, back.src_desc()},
             {DNNL_ARG_DIFF_DST, here_.windows, back.diff_dst_desc()},
             {DNNL_ARG_DIFF_WEIGHTS, here_.filters, back.diff_weights_desc(), true}},
            back.scratchpad_desc()};
  }

  const conv_pass pass_;
  const onednn_tensors here_, rounded_;
  const onednn_desc images_, windows_, filters_;  // as oneDNN takes them
  const onednn_window w_;
  const dnnl::primitive_attr attr_ = scratch_of_caller();
};

// The primitives for the shapes of the latest runs. Thread-safe.
template <class Geometry>
class latest_calls {
 public:
  // The primitive for these shapes, which `make` makes where it is not there.
  template <class Make>
  std::shared_ptr<const onednn_call> of(const Geometry& g, const Make& make) {
    std::lock_guard hold(mutex_);
    for (const auto& [made_for, call] : made_)
      if (made_for == g) return call;
    if (made_.size() == most) made_.erase(made_.begin());
    return made_.emplace_back(g, make()).second;
  }

 private:
  static constexpr std::size_t most = 8;  // per kernel: shapes, each with that of a batch's rest
  std::mutex mutex_;
  std::vector<std::pair<Geometry, std::shared_ptr<const onednn_call>>> made_;
};

// A pass whose operands are rounded to bfloat16, if `narrow`.
inline std::shared_ptr<const onednn_call> make_convolution(conv_pass pass, const image_geometry& g, bool narrow) {
  const onednn_type operands = narrow ? onednn_type::bf16 : onednn_type::f32;
  std::shared_ptr<const onednn_call> made;
  calling_onednn([&] {
    const onednn_convolution c(pass, tensors_of(g, onednn_type::f32), tensors_of(g, operands), onednn_window(g));
    made = std::make_shared<onednn_call>(c.call());
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
