// Convolution and pooling of floats by oneDNN, versions 2 and 3.
#pragma once

#include <pinion/base/process.hpp>
#include <pinion/op/conv/geometry.hpp>
#include <pinion/op/matmul/gemm.hpp>

#if PINION_HAS_ONEDNN
#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <unordered_map>
#include <vector>

#include <oneapi/dnnl/dnnl.hpp>

namespace pinion { inline namespace v0 { namespace op { namespace detail {

using onednn_desc = dnnl::memory::desc;

inline const dnnl::engine& onednn_engine() {
  return table_of_this_process([] { return dnnl::engine(dnnl::engine::kind::cpu, 0); });
}

inline onednn_desc images_desc(const shape& s) {  // oneDNN's order of extents: n, channels, height, width
  return {{s[0], s[3], s[1], s[2]}, dnnl::memory::data_type::f32, dnnl::memory::format_tag::nhwc};
}
// Filters are [out, in, h, w] for oneDNN, and [groups, out of a group, in, h, w] where there are several.
inline onednn_desc filters_desc(const image_geometry& g, bool is_free) {
  using tag = dnnl::memory::format_tag;
  const shape& s = g.filters;
  const std::int64_t groups = g.groups();
  const auto type = dnnl::memory::data_type::f32;
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

// Calls oneDNN, and turns its exceptions into pinion::error.
template <class F>
void calling_onednn(F&& call) {
  try {
    const onednn_thread ready;
    call();
  } catch (const dnnl::error& e) {
    throw error(errc::internal, std::string("oneDNN failed: ") + e.what());
  }
}

inline dnnl::primitive_attr scratch_of_caller() {
  dnnl::primitive_attr attr;
  attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);  // otherwise concurrent steps would share it
  return attr;
}

// Memory that a primitive works in, and some bytes behind it, which tell whether it has kept to it: a sanitizer does
// not see inside a library.
class onednn_scratch {
 public:
  explicit onednn_scratch(const onednn_desc& d)
      : bytes_(d.get_size()), data_(static_cast<std::byte*>(::operator new(bytes_ + behind, alignment))) {
    std::memset(data_.get() + bytes_, mark, behind);
    memory_ = dnnl::memory(d, onednn_engine(), data_.get());
  }
  const dnnl::memory& memory() const { return memory_; }
  void expect_kept() const {
    const auto* const end = reinterpret_cast<const unsigned char*>(data_.get() + bytes_);
    if (std::any_of(end, end + behind, [](unsigned char byte) { return byte != mark; }))
      throw error(errc::internal, "oneDNN wrote beyond the " + std::to_string(bytes_) +
                                      " bytes of scratch memory that it had asked for");
  }

 private:
  static constexpr std::align_val_t alignment{64};
  static constexpr std::size_t behind = 1024;
  static constexpr unsigned char mark = 0xa5;
  struct release {
    void operator()(std::byte* p) const { ::operator delete(p, alignment); }
  };
  const std::size_t bytes_;
  const std::unique_ptr<std::byte, release> data_;
  dnnl::memory memory_;
};

// A oneDNN primitive with the layouts that it prefers, and the reorders between these and ours. Immutable once made.
class onednn_call {
 public:
  struct operand {
    int role;
    onednn_desc ours, theirs;
    bool is_result = false;
  };

  onednn_call(dnnl::primitive p, std::vector<operand> operands, const onednn_desc& scratch)
      : primitive_(std::move(p)), operands_(std::move(operands)), scratch_(scratch) {}

  // Runs it. `data` has one pointer for each operand, in their order.
  void operator()(const std::vector<float*>& data) const {
    dnnl::stream stream(onednn_engine());
    std::unordered_map<int, dnnl::memory> arguments;
    for (std::size_t i = 0; i < operands_.size(); ++i) {
      const operand& o = operands_[i];
      dnnl::memory ours(o.ours, onednn_engine(), data[i]);
      if (o.ours == o.theirs) {
        arguments.emplace(o.role, ours);
        continue;
      }
      dnnl::memory theirs(o.theirs, onednn_engine());
      if (!o.is_result) dnnl::reorder(ours, theirs).execute(stream, ours, theirs);
      arguments.emplace(o.role, theirs);
    }
    const onednn_scratch scratch(scratch_);
    arguments.emplace(DNNL_ARG_SCRATCHPAD, scratch.memory());
    primitive_.execute(stream, arguments);
    for (std::size_t i = 0; i < operands_.size(); ++i) {
      const operand& o = operands_[i];
      if (!o.is_result || o.ours == o.theirs) continue;
      dnnl::memory ours(o.ours, onednn_engine(), data[i]);
      dnnl::reorder(arguments.at(o.role), ours).execute(stream, arguments.at(o.role), ours);
    }
    stream.wait();
    scratch.expect_kept();
  }

 private:
  dnnl::primitive primitive_;
  std::vector<operand> operands_;
  onednn_desc scratch_;
};

// Makes the description of a primitive; oneDNN 2 does so in two steps.
template <class Primitive, class... Argument>
typename Primitive::primitive_desc onednn_description(const dnnl::primitive_attr& attr, const Argument&... arguments) {
#if DNNL_VERSION_MAJOR >= 3
  return typename Primitive::primitive_desc(onednn_engine(), arguments..., attr);
#else
  return typename Primitive::primitive_desc(typename Primitive::desc(arguments...), attr, onednn_engine());
#endif
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

// The parts of a convolution of floats: descriptions of its tensors, and of its forward pass.
struct onednn_convolution {
  using forward_desc = dnnl::convolution_forward::primitive_desc;
  static constexpr auto direct = dnnl::algorithm::convolution_direct;

  onednn_desc images, windows, filters, free_filters;  // oneDNN chooses the layout of the last
  onednn_window w;
  dnnl::primitive_attr attr = scratch_of_caller();
  forward_desc forward =
      onednn_description<dnnl::convolution_forward>(attr, dnnl::prop_kind::forward_training, direct, images,
                                                    free_filters, windows, w.strides, w.dilations, w.before, w.after);

  onednn_convolution(onednn_desc of_images, onednn_desc of_windows, onednn_desc of_filters, onednn_desc of_free_filters,
                     onednn_window over)
      : images(std::move(of_images)),
        windows(std::move(of_windows)),
        filters(std::move(of_filters)),
        free_filters(std::move(of_free_filters)),
        w(std::move(over)) {}
  explicit onednn_convolution(const image_geometry& g)
      : onednn_convolution(images_desc(g.images), images_desc(g.windows), filters_desc(g, false), filters_desc(g, true),
                           onednn_window(g)) {}

  template <class Primitive>
  typename Primitive::primitive_desc backward() const {
    return onednn_backward<Primitive>(attr, forward, direct, images, free_filters, windows, w.strides, w.dilations,
                                      w.before, w.after);
  }

  onednn_call call_of(conv_pass pass) const {
    return pass == conv_pass::forward ? forwards() : pass == conv_pass::by_images ? by_images() : by_filters();
  }

 private:
  onednn_call forwards() const {
    return {dnnl::convolution_forward(forward),
            {{DNNL_ARG_SRC, images, forward.src_desc()},
             {DNNL_ARG_WEIGHTS, filters, forward.weights_desc()},
             {DNNL_ARG_DST, windows, forward.dst_desc(), true}},
            forward.scratchpad_desc()};
  }
  onednn_call by_images() const {
    const auto back = backward<dnnl::convolution_backward_data>();
    return {dnnl::convolution_backward_data(back),
            {{DNNL_ARG_DIFF_DST, windows, back.diff_dst_desc()},
             {DNNL_ARG_WEIGHTS, filters, back.weights_desc()},
             {DNNL_ARG_DIFF_SRC, images, back.diff_src_desc(), true}},
            back.scratchpad_desc()};
  }
  onednn_call by_filters() const {
    const auto back = backward<dnnl::convolution_backward_weights>();
    return {dnnl::convolution_backward_weights(back),
            {{DNNL_ARG_SRC, images, back.src_desc()},
             {DNNL_ARG_DIFF_DST, windows, back.diff_dst_desc()},
             {DNNL_ARG_DIFF_WEIGHTS, filters, back.diff_weights_desc(), true}},
            back.scratchpad_desc()};
  }
};

inline std::shared_ptr<const onednn_call> make_convolution(conv_pass pass, const image_geometry& g) {
  std::shared_ptr<const onednn_call> made;
  calling_onednn([&] { made = std::make_shared<onednn_call>(onednn_convolution(g).call_of(pass)); });
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
