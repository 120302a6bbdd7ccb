// The kernels of products in layers on GPUs: by cuBLASLt where it is installed, and else by tiles and a fold.
#pragma once

#include <cstdint>
#include <memory>

#include <pinion/device/cuda/fold.hpp>
#include <pinion/op/layer/checks.hpp>
#include <pinion/op/layer/op.hpp>
#include <pinion/op/matmul/cuda.hpp>
#include <pinion/opkit/kernel.hpp>

namespace pinion { inline namespace v0 { namespace op {

namespace detail {

// Enqueues the sums of [outer, n, inner] over n.
template <class T>
void cuda_add_up(kernel_context& c, const T* x, T* sums, const cuda::fold_extents& of) {
  const any_tensor stage = c.scratch(dtype_of<T>, {cuda::fold_scratch<T>(of)});
  cuda::fold(c.device->stream()->native(), cuda::fold_by::sum, x, sums, of, 1, stage.data<T>());
}

}  // namespace detail

inline std::unique_ptr<kernel> make_cuda_kernel(biased_matmul, const kernel_setup& setup) {
  const bool relu = setup.attrs().get_or("relu", false);
  return detail::make_cuda_product(setup, [relu]<class T>(const detail::cuda_product<T>& p) {
    detail::expect_bias(p.c.input(2).shape(), p.of.n);
    const T* const bias = p.c.input(2).template data<T>();
    const bool has_mask = p.c.outputs.size() > 1;
    if (has_mask && relu && detail::multiply_with_mask(p, bias)) return;
    if (has_mask) p.c.allocate(1, dtype::uint8, {0, 0});
    detail::cuda_multiply<T>(p, {bias, relu});
  });
}

inline std::unique_ptr<kernel> make_cuda_kernel(matmul_relu_gradient, const kernel_setup& setup) {
  return detail::make_cuda_product(setup, []<class T>(const detail::cuda_product<T>& p) {
    detail::expect_relu(p.c.input(2).shape(), p.of.m, p.of.n);
    T* const sums = p.c.allocate(1, dtype_of<T>, {p.of.n}).template data<T>();
    if (p.c.inputs.size() > 3 && detail::multiply_with_relu_gradient(p, p.c.input(3), sums)) return;
    detail::cuda_multiply<T>(p, {.gate = p.c.input(2).template data<T>()});
    detail::cuda_add_up<T>(p.c, p.to, sums, {1, p.of.m, p.of.n});
  });
}

inline std::unique_ptr<kernel> make_cuda_kernel(matmul_bias_gradient, const kernel_setup& setup) {
  const bool left = setup.attrs().get_or("sums_left", false);
  return detail::make_cuda_product(setup, [left]<class T>(const detail::cuda_product<T>& p) {
    const auto& [m, n, k, ta, tb] = p.of;
    const std::int64_t count = left ? m : n;
    T* const sums = p.c.allocate(1, dtype_of<T>, {count}).template data<T>();
    if (detail::multiply_with_sums(p, left, sums)) return;
    detail::cuda_multiply(p);
    const bool are_columns = left ? ta : !tb;  // of the factor in memory, over which it is added up
    detail::cuda_add_up<T>(p.c, left ? p.a : p.b, sums,
                           are_columns ? cuda::fold_extents{1, k, count} : cuda::fold_extents{count, k, 1});
  });
}

}}}  // namespace pinion::v0::op
