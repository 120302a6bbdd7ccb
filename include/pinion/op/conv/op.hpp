// Convolution and pooling of images [n, height, width, channels].
//
// window.hpp lists the attributes that all of these have. Output (n, i, j, c) looks at the window of image n that
// begins at row i * stride - before and column j * stride - before.
#pragma once

#include <pinion/base/config.hpp>
#include <pinion/op/conv/window.hpp>
#include <pinion/op/matmul/compute_dtype.hpp>
#include <pinion/opkit/attribute_list.hpp>
#include <pinion/opkit/definition.hpp>

namespace pinion { inline namespace v0 { namespace op {

namespace detail {

void expect_images(const shape_context& c, int i, std::string_view what);

inline std::int64_t axis_extent(const shape& s, int axis) {
  return s.has_rank() ? s[axis] : unknown;
}

attributes window_of(const attributes& attrs);

// The shape of a convolution of images with filters, as far as it is known. Throws invalid_argument where they do not
// fit.
shape convolved(const attributes& attrs, const shape& images, const shape& filters);

// The shape of the images of a transposed convolution: those whose convolution with the filters [h, w, out, in] has the
// shape of dy [n, h', w', in]. Attribute "sizes" is {height, width}; without it they are stride * h' and stride * w',
// and no smaller than padding VALID needs. Throws invalid_argument where nothing fits.
shape transposed(const attributes& attrs, const shape& dy, const shape& filters);

// Counts two operations for each element of a window, each input channel and each output.
double convolution_work(const work_context& c, const shape& windows, const shape& filters);

}  // namespace detail

struct convolution {
  static constexpr attribute_list attrs =
      attribute_list{attr::integers("strides").optional(), attr::integers("dilations").optional(),
                     attr::text("padding").optional()} +
      compute_attribute;
  static constexpr bool bears_changing_inputs = true;
  static constexpr kernel_set kernels{.cpu = dtypes::floating, .gpu = dtypes::floating};
  static constexpr std::string_view gpu_library = "cuDNN", without_library = "as products";
};

// (images [n, h, w, in], filters [h, w, in, out]) -> [n, h', w', out]: y(n, i, j, o) is the sum over (p, q, c) of
// x(n, i s + p d - before, j s + q d - before, c) f(p, q, c, o). Zeros lie around the images.
//
// Filters of fewer channels than the images have, by a whole number g, make g groups: group k has channels k in / g
// up to (k + 1) in / g of the images, and as many of the outputs. TensorFlow tells groups by these shapes, too.
struct conv2d : convolution {
  static constexpr std::string_view name = "Conv2D";
  static constexpr input_count inputs = 2;
  static void infer(shape_context& c);
  static double work(const work_context& c);
  static void gradient(gradient_context& g);
};

// (dy, filters, images) -> the gradient of Conv2D by its images, of which only the shape is read. (dy, filters) is a
// transposed convolution, whose extents `transposed` tells: it has one group.
struct conv2d_backprop_input : convolution {
  static constexpr std::string_view name = "Conv2DBackpropInput";
  static constexpr input_count inputs{2, 3};
  static constexpr attribute_list attrs = convolution::attrs + attribute_list{attr::integers("sizes").optional()};
  static void infer(shape_context& c);
  static double work(const work_context& c);
  static void gradient(gradient_context& g);
};

// (images, dy, filters) -> the gradient of Conv2D by its filters, of which only the shape is read.
struct conv2d_backprop_filter : convolution {
  static constexpr std::string_view name = "Conv2DBackpropFilter";
  static constexpr input_count inputs = 3;
  static void infer(shape_context& c);
  static double work(const work_context& c);
  static void gradient(gradient_context& g);
};

// Attribute "window" has height and width; window.hpp lists the others. Each channel is pooled separately.
struct pooling {
  static constexpr attribute_list attrs{attr::integers("window"), attr::integers("strides").optional(),
                                        attr::text("padding").optional(), attr::flag("ceil_mode").optional()};
  static constexpr kernel_set kernels{.cpu = dtypes::floating, .gpu = dtypes::floating};
  static window window_of(const attributes& of);
  static shape pooled(const attributes& of, const shape& images);
  // The images are input 0. Counts the elements of each window that lie inside the image.
  static double work_of(const work_context& c, const shape& windows);
};

// The greatest element of each window. Padding does not count. The result for a window that has a NaN, or only
// -infinity, is unspecified.
struct max_pool : pooling {
  static constexpr std::string_view name = "MaxPool";
  static constexpr input_count inputs = 1;
  static void infer(shape_context& c);
  static double work(const work_context& c);
  static void gradient(gradient_context& g);
};

// (images, dy) -> dx: each gradient goes to the greatest element of its window, the first of equal ones row by row.
struct max_pool_grad : pooling {
  static constexpr std::string_view name = "MaxPoolGrad";
  static constexpr input_count inputs = 2;
  static void infer(shape_context& c);
  static double work(const work_context& c);
  static void gradient(gradient_context& g);
};

// (images, values) -> for each window, the value at the first greatest element of the image.
struct max_pool_grad_grad : pooling {
  static constexpr std::string_view name = "MaxPoolGradGrad";
  static constexpr input_count inputs = 2;
  static void infer(shape_context& c);
  static double work(const work_context& c);
  static void gradient(gradient_context& g);
};

// The mean of each window. Padding does not count, as in TensorFlow.
struct avg_pool : pooling {
  static constexpr std::string_view name = "AvgPool";
  static constexpr input_count inputs = 1;
  static constexpr bool bears_changing_inputs = true;
  static void infer(shape_context& c);
  static double work(const work_context& c);
  static void gradient(gradient_context& g);
};

// (images, dy) -> dx: each gradient is shared equally by the elements of its window. Only the shape of images is read.
struct avg_pool_grad : pooling {
  static constexpr std::string_view name = "AvgPoolGrad";
  static constexpr input_count inputs = 2;
  static constexpr bool bears_changing_inputs = true;
  static void infer(shape_context& c);
  static double work(const work_context& c);
  static void gradient(gradient_context& g);
};

}}}  // namespace pinion::v0::op

#if PINION_HEADER_ONLY
#include <pinion/op/conv/op.ipp>
#endif
