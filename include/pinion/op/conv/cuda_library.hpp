// Convolutions of GPUs in the layouts of cuDNN: its filters are [out, h, w, in], and its padding is the same before and
// after an image.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>

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
    if (!is_extended()) return x;
    any_tensor larger = images();
    cuda::fill(stream_, larger.data<T>(), larger.count(), T(0));
    copy_images(x, g_.images[1], g_.images[2], larger, extents_.height.image, extents_.width.image);
    return larger;
  }
  any_tensor filters(const any_tensor& f) const {
    any_tensor turned = c_.scratch(dtype_of<T>, f.shape());
    copy_filters(f, {filter_size(), g_.filters[3]}, turned);
    return turned;
  }
  // Room for a result in the library's layout, which stands for `to`, and the way back.
  any_tensor room(conv_pass pass, const any_tensor& to) const {
    if (pass == conv_pass::by_filters) return c_.scratch(dtype_of<T>, g_.filters);
    return pass == conv_pass::by_images && is_extended() ? images() : to;
  }
  void bring_back(conv_pass pass, const any_tensor& from, const any_tensor& to) const {
    if (pass == conv_pass::by_filters) return copy_filters(from, {g_.filters[3], filter_size()}, to);
    if (pass == conv_pass::by_images && is_extended())
      copy_images(from, extents_.height.image, extents_.width.image, to, g_.images[1], g_.images[2]);
  }

 private:
  struct matrix {
    std::int64_t rows, columns;
  };

  bool is_extended() const { return extents_.height.image != g_.images[1] || extents_.width.image != g_.images[2]; }
  std::int64_t filter_size() const { return g_.filters[0] * g_.filters[1] * g_.filters[2]; }
  any_tensor images() const {
    return c_.scratch(dtype_of<T>, {g_.images[0], extents_.height.image, extents_.width.image, g_.images[3]});
  }
  // Copies the rows and columns that both have.
  void copy_images(const any_tensor& x, std::int64_t height, std::int64_t width, const any_tensor& y,
                   std::int64_t to_height, std::int64_t to_width) const {
    const std::int64_t c = g_.images[3], from_row = width * c, to_row = to_width * c;
    const cuda::strided_axis axes[]{{g_.images[0], height * from_row, to_height * to_row},
                                    {std::min(height, to_height), from_row, to_row},
                                    {std::min(from_row, to_row), 1, 1}};
    cuda::copy_strided(stream_, x.raw(), y.raw(), sizeof(T), axes, 3);
  }
  // Transposes a matrix.
  void copy_filters(const any_tensor& f, matrix of, const any_tensor& to) const {
    const cuda::strided_axis axes[]{{of.columns, 1, of.rows}, {of.rows, of.columns, 1}};
    cuda::copy_strided(stream_, f.raw(), to.raw(), sizeof(T), axes, 2);
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
  const any_tensor left = pass == conv_pass::by_images ? a : as.images(a),
                   right = pass == conv_pass::by_filters ? b : as.filters(b), result = as.room(pass, y);
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
