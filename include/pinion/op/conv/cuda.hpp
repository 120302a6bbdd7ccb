// Kernels of convolution and pooling for GPUs: convolution by cuDNN where it is installed.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include <pinion/op/conv/checks.hpp>
#include <pinion/op/conv/cuda_kernels.hpp>
#include <pinion/op/conv/cuda_library.hpp>
#include <pinion/op/conv/op.hpp>
#include <pinion/op/layout/cuda_kernels.hpp>
#include <pinion/opkit/kernel.hpp>

namespace pinion { inline namespace v0 { namespace op {

namespace detail {

// Makes a kernel for a floating dtype of body.operator()<T>(context).
template <class Body>
std::unique_ptr<kernel> make_cuda_image_kernel(const kernel_setup& setup, Body body) {
  return visit_plain<dtypes::floating>(setup.input(0).dtype, [&]<class T>() {
    return make_function_kernel([body](kernel_context& c) { body.template operator()<T>(c); });
  });
}

template <class T>
void run_cuda_convolution_of(kernel_context& c, conv_pass pass, const image_geometry& g, const any_tensor& left,
                             const any_tensor& right, const any_tensor& result) {
  const cuda::image_extents e = cuda_extents(g);
  if (convolve_by_library<T>(c, pass, g, left, right, result)) return;
  const any_tensor scratch = c.scratch(dtype_of<T>, {cuda::convolve_scratch(cuda_pass(pass), e)});
  cuda::convolve(c.device->stream()->native(), cuda_pass(pass), left.data<T>(), right.data<T>(),
                 result.template data<T>(), scratch.data<T>(), e);
}

// Copies the elements of one group of channels, which are neighbours along the last axis, out of a tensor or into it.
template <class T>
void copy_cuda_group(kernel_context& c, const any_tensor& whole, const any_tensor& part, std::int64_t group,
                     bool is_out) {
  const std::int64_t all = whole.shape()[3], some = part.shape()[3], rows = part.count() / some;
  T* const at = whole.data<T>() + group * some;
  const cuda::strided_axis axes[] = {{rows, is_out ? all : some, is_out ? some : all}, {some, 1, 1}};
  cuda::copy_strided(c.device->stream()->native(), is_out ? at : part.data<T>(), is_out ? part.data<T>() : at,
                     sizeof(T), axes, 2);
}

// The kernels know no groups, so each is copied out, convolved by itself, and copied back.
template <class T>
void run_cuda_groups(kernel_context& c, conv_pass pass, const image_geometry& g, const any_tensor& left,
                     const any_tensor& right, const any_tensor& result) {
  const image_geometry one = g.one_group();
  const any_tensor a = c.scratch(dtype_of<T>, pass == conv_pass::by_images ? one.windows : one.images),
                   b = c.scratch(dtype_of<T>, pass == conv_pass::by_filters ? one.windows : one.filters),
                   y = c.scratch(dtype_of<T>, one.result(pass));
  for (std::int64_t group = 0; group < g.groups(); ++group) {
    copy_cuda_group<T>(c, left, a, group, true);
    copy_cuda_group<T>(c, right, b, group, true);
    run_cuda_convolution_of<T>(c, pass, one, a, b, y);
    copy_cuda_group<T>(c, result, y, group, false);
  }
}

template <class T>
void run_cuda_convolution(kernel_context& c, conv_pass pass, const attributes& attrs) {
  const image_geometry g = convolution_geometry(pass, attrs, c);
  const any_tensor &left = c.input(0), &right = c.input(1), &result = c.allocate(0, dtype_of<T>, g.result(pass));
  if (g.nothing() || g.groups() == 1) return run_cuda_convolution_of<T>(c, pass, g, left, right, result);
  run_cuda_groups<T>(c, pass, g, left, right, result);
}

inline std::unique_ptr<kernel> make_cuda_convolution(conv_pass pass, const kernel_setup& setup) {
  open_convolutions_library();
  return make_cuda_image_kernel(
      setup, [pass, attrs = setup.attrs()]<class T>(kernel_context& c) { run_cuda_convolution<T>(c, pass, attrs); });
}

// The first greatest place of each window of the images.
template <class T>
any_tensor cuda_greatest_places(kernel_context& c, const any_tensor& images, const image_geometry& g) {
  any_tensor places = c.scratch(dtype::int32, g.windows);
  cuda::greatest_places(c.device->stream()->native(), images.data<T>(), places.data<std::int32_t>(), cuda_extents(g));
  return places;
}

}  // namespace detail

inline std::unique_ptr<kernel> make_cuda_kernel(conv2d, const kernel_setup& setup) {
  return detail::make_cuda_convolution(detail::conv_pass::forward, setup);
}
inline std::unique_ptr<kernel> make_cuda_kernel(conv2d_backprop_input, const kernel_setup& setup) {
  return detail::make_cuda_convolution(detail::conv_pass::by_images, setup);
}
inline std::unique_ptr<kernel> make_cuda_kernel(conv2d_backprop_filter, const kernel_setup& setup) {
  return detail::make_cuda_convolution(detail::conv_pass::by_filters, setup);
}

inline std::unique_ptr<kernel> make_cuda_kernel(max_pool, const kernel_setup& setup) {
  return detail::make_cuda_image_kernel(setup, [attrs = setup.attrs()]<class T>(kernel_context& c) {
    const any_tensor& x = c.input(0);
    const detail::image_geometry g = detail::pooling_geometry(attrs, x.shape());
    T* const y = c.allocate(0, x.dtype(), g.windows).template data<T>();
    cuda::pool_greatest(c.device->stream()->native(), x.data<T>(), y, detail::cuda_extents(g));
  });
}
inline std::unique_ptr<kernel> make_cuda_kernel(avg_pool, const kernel_setup& setup) {
  return detail::make_cuda_image_kernel(setup, [attrs = setup.attrs()]<class T>(kernel_context& c) {
    const any_tensor& x = c.input(0);
    const detail::image_geometry g = detail::pooling_geometry(attrs, x.shape());
    T* const y = c.allocate(0, x.dtype(), g.windows).template data<T>();
    cuda::pool_means(c.device->stream()->native(), x.data<T>(), y, detail::cuda_extents(g));
  });
}

inline std::unique_ptr<kernel> make_cuda_kernel(max_pool_grad, const kernel_setup& setup) {
  return detail::make_cuda_image_kernel(setup, [attrs = setup.attrs()]<class T>(kernel_context& c) {
    const any_tensor &x = c.input(0), &dy = c.input(1);
    const detail::image_geometry g = detail::pooling_geometry(attrs, x.shape());
    detail::expect_windows(dy, g);
    const any_tensor places = detail::cuda_greatest_places<T>(c, x, g);
    T* const dx = c.allocate(0, x.dtype(), g.images).template data<T>();
    cuda::add_at_places(c.device->stream()->native(), dy.data<T>(), places.data<std::int32_t>(), dx,
                        detail::cuda_extents(g));
  });
}
inline std::unique_ptr<kernel> make_cuda_kernel(max_pool_grad_grad, const kernel_setup& setup) {
  return detail::make_cuda_image_kernel(setup, [attrs = setup.attrs()]<class T>(kernel_context& c) {
    const any_tensor &x = c.input(0), &values = c.input(1);
    const detail::image_geometry g = detail::pooling_geometry(attrs, x.shape());
    detail::expect_images(values, g);
    const any_tensor places = detail::cuda_greatest_places<T>(c, x, g);
    T* const y = c.allocate(0, x.dtype(), g.windows).template data<T>();
    cuda::take_at_places(c.device->stream()->native(), values.data<T>(), places.data<std::int32_t>(), y,
                         detail::cuda_extents(g));
  });
}
inline std::unique_ptr<kernel> make_cuda_kernel(avg_pool_grad, const kernel_setup& setup) {
  return detail::make_cuda_image_kernel(setup, [attrs = setup.attrs()]<class T>(kernel_context& c) {
    const any_tensor &x = c.input(0), &dy = c.input(1);
    const detail::image_geometry g = detail::pooling_geometry(attrs, x.shape());
    detail::expect_windows(dy, g);
    T* const dx = c.allocate(0, x.dtype(), g.images).template data<T>();
    cuda::share_means(c.device->stream()->native(), dy.data<T>(), dx, detail::cuda_extents(g));
  });
}

}}}  // namespace pinion::v0::op
