// The kernel of matmul on GPUs: by cuBLASLt where it is installed, and by tiles where it is not.
#pragma once

#include <bit>
#include <cstdint>
#include <initializer_list>
#include <memory>

#include <pinion/op/matmul/cublas.hpp>
#include <pinion/op/matmul/cuda_kernels.hpp>
#include <pinion/op/matmul/extents.hpp>
#include <pinion/op/matmul/op.hpp>
#include <pinion/opkit/kernel.hpp>

namespace pinion { inline namespace v0 { namespace op {

namespace detail {

#if PINION_HAS_CUDA && __has_include(<cublasLt.h>)
// Opens the library, so that no step waits for it. Returns false where it is missing.
inline bool open_products_library() {
  return products_library().is_there();
}

// The largest power of two, up to 256, of which the addresses are all multiples.
inline std::size_t alignment_of(std::initializer_list<const void*> addresses) {
  std::uintptr_t bits = 256;
  for (const void* at : addresses) bits |= reinterpret_cast<std::uintptr_t>(at);
  return std::size_t{1} << std::countr_zero(bits);
}

// Multiplies by the library. Returns false where it is missing or refuses.
template <class T>
bool multiply_by_library(kernel_context& c, const T* a, const T* b, T* to, const cuda::product_extents& of,
                         const cuda::product_end<T>& end) {
  if (of.m == 0 || of.n == 0 || of.k == 0 || (end.relu && !end.bias)) return false;
  const cublasLtEpilogue_t epilogue = end.is_plain() ? CUBLASLT_EPILOGUE_DEFAULT
                                      : end.relu     ? CUBLASLT_EPILOGUE_RELU_BIAS
                                                     : CUBLASLT_EPILOGUE_BIAS;
  const auto plan = products_library().find(
      {dtype_of<T>, of, alignment_of({a, b, to, end.bias}), c.device->float_products(), epilogue});
  if (!plan) return false;
  any_tensor workspace;
  if (plan->workspace() > 0) workspace = c.scratch(dtype::uint8, {static_cast<std::int64_t>(plan->workspace())});
  return plan->run(c.device->stream()->native(), a, b, to, end.bias, workspace ? workspace.raw() : nullptr);
}
#else
inline bool open_products_library() {
  return false;
}

template <class T>
bool multiply_by_library(kernel_context&, const T*, const T*, T*, const cuda::product_extents&,
                         const cuda::product_end<T>&) {
  return false;
}
#endif

// Enqueues a product of two matrices of float or double. A library that has no kernel for the end of it may have one
// for the product.
template <class T>
void cuda_multiply(kernel_context& c, const T* a, const T* b, T* to, const cuda::product_extents& of,
                   const cuda::product_end<T>& end = {}) {
  if (multiply_by_library(c, a, b, to, of, end)) return;
  const devices::cuda_stream stream = c.device->stream()->native();
  if (!end.is_plain() && multiply_by_library(c, a, b, to, of, {}))
    return cuda::end_product(stream, to, of.m, of.n, end);
  const any_tensor scratch = c.scratch(dtype_of<T>, {cuda::multiply_scratch(of)});
  cuda::multiply(stream, a, b, to, scratch.data<T>(), of, end);
}
// A product of tensors; the bias may be null.
inline void cuda_multiply(kernel_context& c, const any_tensor& a, const any_tensor& b, const any_tensor& to,
                          const cuda::product_extents& of, const any_tensor* bias = nullptr, bool relu = false) {
  const auto run = [&]<class T>() {
    cuda_multiply<T>(c, a.data<T>(), b.data<T>(), to.data<T>(), of, {bias ? bias->data<T>() : nullptr, relu});
  };
  a.dtype() == dtype::float64 ? run.template operator()<double>() : run.template operator()<float>();
}

}  // namespace detail

inline std::unique_ptr<kernel> make_cuda_kernel(matmul, const kernel_setup& setup) {
  detail::open_products_library();
  const bool ta = setup.attrs().get_or("transpose_a", false), tb = setup.attrs().get_or("transpose_b", false);
  return make_function_kernel([ta, tb](kernel_context& c) {
    const auto &a = c.input(0), &b = c.input(1);
    const auto [m, n, k] = detail::sides_of_product(a.shape(), ta, b.shape(), tb);
    detail::cuda_multiply(c, a, b, c.allocate(0, a.dtype(), {m, n}), {m, n, k, ta, tb});
  });
}

inline std::unique_ptr<kernel> make_cuda_kernel(biased_matmul, const kernel_setup& setup) {
  detail::open_products_library();
  const bool ta = setup.attrs().get_or("transpose_a", false), tb = setup.attrs().get_or("transpose_b", false);
  return make_function_kernel([ta, tb, relu = setup.attrs().get_or("relu", false)](kernel_context& c) {
    const auto &a = c.input(0), &b = c.input(1), &bias = c.input(2);
    const auto [m, n, k] = detail::sides_of_product(a.shape(), ta, b.shape(), tb);
    detail::expect_bias(bias.shape(), n);
    detail::cuda_multiply(c, a, b, c.allocate(0, a.dtype(), {m, n}), {m, n, k, ta, tb}, &bias, relu);
  });
}

}}}  // namespace pinion::v0::op
