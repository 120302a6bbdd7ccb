// Convolution and pooling of volumes [n, depth, height, width, channels].
//
// Attributes are those of op/conv, with three numbers, of depth, height and width. Output (n, i, j, k, c) looks at the
// window of volume n that begins at place i * stride - before of the depth, and so on.
#pragma once

#include <pinion/base/config.hpp>
#include <pinion/opkit/attribute_list.hpp>
#include <pinion/opkit/definition.hpp>

namespace pinion { inline namespace v0 { namespace op {

namespace detail {

struct volume_convolution {
  static constexpr attribute_list attrs{attr::integers("strides").optional(), attr::integers("dilations").optional(),
                                        attr::text("padding").optional()};
  static constexpr bool bears_changing_inputs = true;
  static constexpr kernel_set kernels{.cpu = dtypes::floating, .gpu = {}};
};

struct volume_pooling {
  static constexpr attribute_list attrs{attr::integers("window"), attr::integers("strides").optional(),
                                        attr::text("padding").optional()};
  static constexpr kernel_set kernels{.cpu = dtypes::floating, .gpu = {}};
};

}  // namespace detail

// (volumes [n, d, h, w, in], filters [d, h, w, in, out]) -> [n, d', h', w', out], the sum over each window and over the
// input channels. Zeros lie around the volumes.
struct conv3d : detail::volume_convolution {
  static constexpr std::string_view name = "Conv3D";
  static constexpr input_count inputs = 2;
  static void infer(shape_context& c);
  static double work(const work_context& c);
  static void gradient(gradient_context& g);
};

// (dy, filters, volumes) -> the gradient of conv3d by its volumes, of which only the shape is read.
struct conv3d_backprop_input : detail::volume_convolution {
  static constexpr std::string_view name = "Conv3DBackpropInputV2";
  static constexpr input_count inputs = 3;
  static void infer(shape_context& c);
  static double work(const work_context& c);
  static void gradient(gradient_context& g);
};

// (volumes, dy, filters) -> the gradient of conv3d by its filters, of which only the shape is read.
struct conv3d_backprop_filter : detail::volume_convolution {
  static constexpr std::string_view name = "Conv3DBackpropFilterV2";
  static constexpr input_count inputs = 3;
  static void infer(shape_context& c);
  static double work(const work_context& c);
  static void gradient(gradient_context& g);
};

// The greatest element of each window, for each channel. Padding does not count. The result for a window that has a NaN
// is unspecified.
struct max_pool3d : detail::volume_pooling {
  static constexpr std::string_view name = "MaxPool3D";
  static constexpr input_count inputs = 1;
  static void infer(shape_context& c);
  static void gradient(gradient_context& g);
};

// (volumes, dy) -> dx: each gradient goes to the first greatest element of its window.
struct max_pool3d_grad : detail::volume_pooling {
  static constexpr std::string_view name = "MaxPool3DGrad";
  static constexpr input_count inputs = 2;
  static void infer(shape_context& c);
  static void gradient(gradient_context& g);
};

// (volumes, values) -> for each window, the value at the first greatest element of the volume.
struct max_pool3d_grad_grad : detail::volume_pooling {
  static constexpr std::string_view name = "MaxPool3DGradGrad";
  static constexpr input_count inputs = 2;
  static void infer(shape_context& c);
  static void gradient(gradient_context& g);
};

// The mean of each window. Padding does not count.
struct avg_pool3d : detail::volume_pooling {
  static constexpr std::string_view name = "AvgPool3D";
  static constexpr input_count inputs = 1;
  static constexpr bool bears_changing_inputs = true;
  static void infer(shape_context& c);
  static void gradient(gradient_context& g);
};

// (volumes, dy) -> dx: each gradient is shared equally by the elements of its window. Only the shape of the volumes is
// read.
struct avg_pool3d_grad : detail::volume_pooling {
  static constexpr std::string_view name = "AvgPool3DGrad";
  static constexpr input_count inputs = 2;
  static constexpr bool bears_changing_inputs = true;
  static void infer(shape_context& c);
  static void gradient(gradient_context& g);
};

}}}  // namespace pinion::v0::op

#if PINION_HEADER_ONLY
#include <pinion/op/volume/op.ipp>
#endif
