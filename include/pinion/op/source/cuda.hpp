// Kernels of sources for GPUs. Constants, and ops that pass values on, launch nothing and keep the kernels of hosts.
#pragma once

#include <cstdint>
#include <memory>
#include <type_traits>

#include <pinion/op/source/cuda_kernels.hpp>
#include <pinion/op/source/extents.hpp>
#include <pinion/op/source/op.hpp>
#include <pinion/opkit/kernel.hpp>

namespace pinion { inline namespace v0 { namespace op {

namespace detail {

// Fills a tensor like its input with one value.
inline std::unique_ptr<kernel> make_cuda_fill(int value) {
  return make_function_kernel([value](kernel_context& c) {
    const any_tensor& y = c.allocate(0, c.input(0).dtype(), c.input(0).shape());
    visit_plain(y.dtype(), [&]<class T>() {
      cuda::fill(c.device->stream()->native(), y.data<T>(), y.count(), static_cast<T>(value));
    });
  });
}

}  // namespace detail

inline std::unique_ptr<kernel> make_cuda_kernel(fill, const kernel_setup& setup) {
  return make_function_kernel([value = setup.attrs().get<any_tensor>("value"),
                               extent = setup.attrs().get<shape>("shape")](kernel_context& c) {
    const any_tensor& y = c.allocate(0, value.dtype(), extent);
    visit_plain(y.dtype(),
                [&]<class T>() { cuda::fill(c.device->stream()->native(), y.data<T>(), y.count(), *value.data<T>()); });
  });
}

inline std::unique_ptr<kernel> make_cuda_kernel(zeros_like, const kernel_setup&) {
  return detail::make_cuda_fill(0);
}
inline std::unique_ptr<kernel> make_cuda_kernel(ones_like, const kernel_setup&) {
  return detail::make_cuda_fill(1);
}

inline std::unique_ptr<kernel> make_cuda_kernel(range, const kernel_setup& setup) {
  const auto with = [&]<class T>() {
    using number = std::conditional_t<std::is_floating_point_v<T>, double, std::int64_t>;
    return make_function_kernel([start = setup.attrs().get<number>("start"), delta = setup.attrs().get<number>("delta"),
                                 n = range::count(setup.attrs())](kernel_context& c) {
      T* const y = c.allocate(0, dtype_of<T>, {n}).template data<T>();
      cuda::count_up(c.device->stream()->native(), y, n, start, delta);
    });
  };
  return visit_plain<dtypes::floating | dtypes::signed_integers>(setup.node.outputs[0].dtype, with);
}

inline std::unique_ptr<kernel> make_cuda_kernel(shape_of, const kernel_setup&) {
  return make_function_kernel([](kernel_context& c) {
    const shape extent = c.input(0).shape();
    std::int32_t numbers[shape::max_rank];
    detail::write_extents(extent, numbers);
    const any_tensor& y = c.allocate(0, dtype::int32, {extent.rank()});
    cuda::write_given(c.device->stream()->native(), y.data<std::int32_t>(), extent.rank(), numbers);
  });
}

}}}  // namespace pinion::v0::op
