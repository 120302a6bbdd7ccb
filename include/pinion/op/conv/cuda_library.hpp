// Convolutions of GPUs in the layouts of cuDNN: its filters are [out, h, w, in], its doubles lie channel by channel,
// and its padding is the same before and after an image.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <type_traits>

#include <pinion/op/conv/cudnn.hpp>
#include <pinion/op/conv/geometry.hpp>
#include <pinion/op/conv/op.hpp>
#include <pinion/op/layout/cuda_kernels.hpp>
#include <pinion/op/source/cuda_kernels.hpp>
#include <pinion/opkit/kernel.hpp>
#include <pinion/opkit/refusals.hpp>

namespace pinion { inline namespace v0 { namespace op { namespace detail {

inline cuda::image_axis cuda_axis(const window_axis& w, std::int64_t image, std::int64_t windows) {
  return {image, windows, w.extent, w.stride, w.dilation, w.before(image)};
}

// The extents as the plain kernels take them.
inline cuda::image_extents cuda_extents(const image_geometry& g) {
  return {g.images[0], g.images[3], g.windows[3], cuda_axis(g.over.height, g.images[1], g.windows[1]),
          cuda_axis(g.over.width, g.images[2], g.windows[2])};
}

inline cuda::conv_pass cuda_pass(conv_pass pass) {
  switch (pass) {
    case conv_pass::forward: return cuda::conv_pass::forward;
    case conv_pass::by_images: return cuda::conv_pass::by_images;
    default: return cuda::conv_pass::by_filters;
  }
}

#if PINION_HAS_CUDA && __has_include(<cudnn.h>)
// Opens the library, so that no step waits for it. Returns false where it is missing.
inline bool open_convolutions_library() {
  return convolutions_library().is_there();
}

// Operands of one run in the library's layouts, copied where they differ from the op's.
template <class T>
class cudnn_operands {
 public:
  cudnn_operands(kernel_context& c, const image_geometry& g)
      : c_(c), g_(g), stream_(c.device->stream()->native()), extents_(cuda_extents(g)) {
    extents_.height.image += g.over.height.after(g.images[1]) - g.over.height.before(g.images[1]);
    extents_.width.image += g.over.width.after(g.images[2]) - g.over.width.before(g.images[2]);
  }

  // The extents, with the rows and columns that stand behind images so that the rest of the padding is even.
  const cuda::image_extents& extents() const { return extents_; }

  any_tensor images(const any_tensor& x) const {
    if (!is_extended() && !channels_first) return x;
    any_tensor theirs = images();
    if (is_extended()) cuda::fill(stream_, theirs.data<T>(), theirs.count(), T(0));
    copy(x, ours(g_.images), theirs, theirs_of_images());
    return theirs;
  }
  any_tensor windows(const any_tensor& y) const {
    if (!channels_first) return y;
    any_tensor theirs = c_.scratch(dtype_of<T>, g_.windows);
    copy(y, ours(g_.windows), theirs, their(g_.windows));
    return theirs;
  }
  any_tensor filters(const any_tensor& f) const {
    any_tensor theirs = c_.scratch(dtype_of<T>, f.shape());
    copy(f, of_our_filters(), theirs, of_their_filters());
    return theirs;
  }
  // Room for a result in the library's layout, which stands for `to`, and the way back.
  any_tensor room(conv_pass pass, const any_tensor& to) const {
    if (pass == conv_pass::by_filters) return c_.scratch(dtype_of<T>, g_.filters);
    if (pass == conv_pass::by_images) return is_extended() || channels_first ? images() : to;
    return channels_first ? c_.scratch(dtype_of<T>, g_.windows) : to;
  }
  void bring_back(conv_pass pass, const any_tensor& from, const any_tensor& to) const {
    if (pass == conv_pass::by_filters) return copy(from, of_their_filters(), to, of_our_filters());
    if (pass == conv_pass::by_images && (is_extended() || channels_first))
      return copy(from, theirs_of_images(), to, ours(g_.images));
    if (pass == conv_pass::forward && channels_first) copy(from, their(g_.windows), to, ours(g_.windows));
  }

 private:
  // The library's layout of doubles.
  static constexpr bool channels_first = std::is_same_v<T, double>;

  // A layout of four axes, [n, h, w, c] or [h, w, in, out]: the elements between neighbours along each, and its extent.
  struct layout {
    std::array<std::int64_t, 4> steps, extents;
  };

  bool is_extended() const { return extents_.height.image != g_.images[1] || extents_.width.image != g_.images[2]; }
  any_tensor images() const { return c_.scratch(dtype_of<T>, extended()); }
  shape extended() const { return {g_.images[0], extents_.height.image, extents_.width.image, g_.images[3]}; }

  static layout ours(const shape& s) { return {{s[1] * s[2] * s[3], s[2] * s[3], s[3], 1}, {s[0], s[1], s[2], s[3]}}; }
  static layout their(const shape& s) {
    if (!channels_first) return ours(s);
    return {{s[1] * s[2] * s[3], s[2], 1, s[1] * s[2]}, {s[0], s[1], s[2], s[3]}};
  }
  layout theirs_of_images() const { return their(extended()); }
  layout of_our_filters() const { return ours(g_.filters); }
  layout of_their_filters() const {
    const auto& s = g_.filters;
    const std::int64_t filter = s[0] * s[1] * s[2];
    if (channels_first) return {{s[1], 1, s[0] * s[1], filter}, {s[0], s[1], s[2], s[3]}};
    return {{s[1] * s[2], s[2], 1, filter}, {s[0], s[1], s[2], s[3]}};
  }
  // Copies the elements that both have, in the order of the result.
  void copy(const any_tensor& x, const layout& from, const any_tensor& y, const layout& to) const {
    std::array<cuda::strided_axis, 4> axes;
    for (std::size_t i = 0; i < 4; ++i)
      axes[i] = {std::min(from.extents[i], to.extents[i]), from.steps[i], to.steps[i]};
    std::sort(axes.begin(), axes.end(), [](const auto& p, const auto& q) { return p.to > q.to; });
    cuda::copy_strided(stream_, x.raw(), y.raw(), sizeof(T), axes.data(), 4);
  }

  kernel_context& c_;
  const image_geometry& g_;
  const devices::cuda_stream stream_;
  cuda::image_extents extents_;
};

// Convolves by the library. Returns false where it is missing, and where it refuses, which is told of.
template <class T>
bool convolve_by_library(kernel_context& c, conv_pass pass, const image_geometry& g, const any_tensor& a,
                         const any_tensor& b, const any_tensor& y) {
  if (g.nothing() || !convolutions_library().is_there()) return false;
  const cudnn_operands<T> as(c, g);
  const auto refused = [&] {
    tell_refusal(c, conv2d::gpu_library, conv2d::without_library);
    return false;
  };
  const auto plan = convolutions_library().find({pass, dtype_of<T>, as.extents(), c.device->float_products()});
  if (!plan) return refused();
  const any_tensor left = pass == conv_pass::by_images ? as.windows(a) : as.images(a),
                   right = pass == conv_pass::by_filters ? as.windows(b) : as.filters(b), result = as.room(pass, y);
  const any_tensor workspace = c.scratch(dtype::uint8, {static_cast<std::int64_t>(plan->workspace())});
  const bool has_run =
      convolutions_library().run(*plan, c.device->stream()->native(), static_cast<const T*>(left.raw()),
                                 static_cast<const T*>(right.raw()), static_cast<T*>(result.raw()), workspace.raw());
  if (!has_run) return refused();
  as.bring_back(pass, result, y);
  return true;
}
#else
inline bool open_convolutions_library() {
  return false;
}

template <class T>
bool convolve_by_library(kernel_context&, conv_pass, const image_geometry&, const any_tensor&, const any_tensor&,
                         const any_tensor&) {
  return false;
}
#endif

}}}}  // namespace pinion::v0::op::detail
