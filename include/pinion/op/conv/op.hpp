// Convolution and pooling of images [n, height, width, channels].
//
// Attributes of all: see window.hpp. Output (n, i, j, c) looks at the window that begins at row i * stride - before and
// column j * stride - before of image n.
#pragma once

#include <pinion/base/config.hpp>
#include <pinion/op/conv/window.hpp>
#include <pinion/opkit/definition.hpp>

namespace pinion { inline namespace v0 { namespace op {

namespace detail {

void expect_images(const shape_context& c, int i, std::string_view what);

inline std::int64_t axis_extent(const shape& s, int axis) {
  return s.has_rank() ? s[axis] : unknown;
}

attributes window_of(const attributes& attrs);

// The output of images x filters, as far as it is known; fails where they do not fit.
shape convolved(const attributes& attrs, const shape& images, const shape& filters);

// Two operations for each element of a window, each input channel and each output.
double convolution_work(const work_context& c, const shape& windows, const shape& filters);

}  // namespace detail

struct convolution {
  static constexpr kernel_set kernels{.cpu = dtypes::floating, .gpu = dtypes::floating};
};

// (images [n, h, w, in], filters [h, w, in, out]) -> [n, h', w', out]: y(n, i, j, o) is the sum over (p, q, c) of
// x(n, i s + p d - before, j s + q d - before, c) f(p, q, c, o). Zeros lie around the images.
struct conv2d : convolution {
  static constexpr std::string_view name = "Conv2D";
  static constexpr input_count inputs = 2;
  static void infer(shape_context& c);
  static double work(const work_context& c);
  static void gradient(gradient_context& g);
};

// (dy, filters, images) -> the gradient of Conv2D by its images, of which only the shape matters.
struct conv2d_backprop_input : convolution {
  static constexpr std::string_view name = "Conv2DBackpropInput";
  static constexpr input_count inputs = 3;
  static void infer(shape_context& c);
  static double work(const work_context& c);
  static void gradient(gradient_context& g);
};

// (images, dy, filters) -> the gradient of Conv2D by its filters, of which only the shape matters.
struct conv2d_backprop_filter : convolution {
  static constexpr std::string_view name = "Conv2DBackpropFilter";
  static constexpr input_count inputs = 3;
  static void infer(shape_context& c);
  static double work(const work_context& c);
  static void gradient(gradient_context& g);
};

// Attribute "window", of height and width, beside those of window.hpp. Channels are pooled apart.
struct pooling : convolution {
  static window window_of(const attributes& attrs);
  static shape pooled(const attributes& attrs, const shape& images);
};

// The greatest element of each window; what lies around the images does not count. Of a window with a NaN, or of
// nothing but -infinity, the result is left open.
struct max_pool : pooling {
  static constexpr std::string_view name = "MaxPool";
  static constexpr input_count inputs = 1;
  static void infer(shape_context& c);
  static void gradient(gradient_context& g);
};

// (images, dy) -> each gradient goes to the first element, row by row, that is the greatest of its window.
struct max_pool_grad : pooling {
  static constexpr std::string_view name = "MaxPoolGrad";
  static constexpr input_count inputs = 2;
  static void infer(shape_context& c);
  static void gradient(gradient_context& g);
};

// (images, values) -> of each window the value where the image has its first greatest element.
struct max_pool_grad_grad : pooling {
  static constexpr std::string_view name = "MaxPoolGradGrad";
  static constexpr input_count inputs = 2;
  static void infer(shape_context& c);
  static void gradient(gradient_context& g);
};

// The mean of each window; what lies around the images does not count, as in TensorFlow.
struct avg_pool : pooling {
  static constexpr std::string_view name = "AvgPool";
  static constexpr input_count inputs = 1;
  static void infer(shape_context& c);
  static void gradient(gradient_context& g);
};

// (images, dy) -> each gradient in equal parts to the elements of its window. Of the images only the shape matters.
struct avg_pool_grad : pooling {
  static constexpr std::string_view name = "AvgPoolGrad";
  static constexpr input_count inputs = 2;
  static void infer(shape_context& c);
  static void gradient(gradient_context& g);
};

}}}  // namespace pinion::v0::op

#if PINION_HEADER_ONLY
#include <pinion/op/conv/op.ipp>
#endif
