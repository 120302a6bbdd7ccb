// Kernels of layout for GPUs. Ops that only reshape launch nothing and keep the kernels of hosts.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <pinion/op/layout/cuda_kernels.hpp>
#include <pinion/op/layout/op.hpp>
#include <pinion/opkit/kernel.hpp>

namespace pinion { inline namespace v0 { namespace op {

namespace detail {

// The axes of a transposition in the order of the result.
inline std::vector<cuda::strided_axis> transposed_axes(const shape& x, const integers& perm) {
  std::vector<std::int64_t> stride(perm.size(), 1);
  for (std::size_t i = perm.size(); i-- > 1;) stride[i - 1] = stride[i] * x[static_cast<int>(i)];
  std::vector<cuda::strided_axis> axes(perm.size());
  std::int64_t to = 1;
  for (std::size_t i = perm.size(); i-- > 0;) {
    const std::int64_t extent = x[static_cast<int>(perm[i])];
    axes[i] = {extent, stride[static_cast<std::size_t>(perm[i])], to};
    to *= extent;
  }
  return axes;
}

}  // namespace detail

inline std::unique_ptr<kernel> make_cuda_kernel(transpose, const kernel_setup& setup) {
  return make_function_kernel([attrs = setup.attrs()](kernel_context& c) {
    const any_tensor& x = c.input(0);
    const integers perm = transpose::permutation(attrs, x.shape().rank());
    shape extent;
    for (const std::int64_t p : perm) extent.push_back(x.shape()[static_cast<int>(p)]);
    const any_tensor& y = c.allocate(0, x.dtype(), extent);
    const auto axes = detail::transposed_axes(x.shape(), perm);
    cuda::copy_strided(c.device->stream()->native(), x.raw(), y.raw(), static_cast<int>(size_of(x.dtype())),
                       axes.data(), static_cast<int>(axes.size()));
  });
}

}}}  // namespace pinion::v0::op
