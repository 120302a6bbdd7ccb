// The kernels of matrix products on GPUs: by cuBLASLt where it is installed, and by tiles where it is not.
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
#include <pinion/opkit/refusals.hpp>

namespace pinion { inline namespace v0 { namespace op {

namespace detail {

#if PINION_HAS_CUDA && __has_include(<cublasLt.h>)
using last_product_plan = cublas_last_plan;
#else
struct last_product_plan {};
#endif

// A run of a node that multiplies its first two inputs: their elements, and those of output 0.
template <class T>
struct cuda_product {
  kernel_context& c;
  last_product_plan& plans;
  const cuda::product_extents of;
  const T* const a = c.input(0).data<T>();
  const T* const b = c.input(1).data<T>();
  T* const to = c.allocate(0, dtype_of<T>, {of.m, of.n}).template data<T>();

  devices::cuda_stream stream() const { return c.device->stream()->native(); }
};

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

// These functions multiply by the library, each with an end of its own. They return false where the library is missing
// or refuses. A product that it refuses as such is told of.
template <class T>
bool multiply_by_library(const cuda_product<T>& p, const cublas_end& end) {
  if (p.of.m == 0 || p.of.n == 0 || p.of.k == 0 || !products_library().is_there()) return false;
  const auto plan = p.plans.find(
      {dtype_of<T>, p.of, alignment_of({p.a, p.b, p.to, end.vector, end.mask}), p.c.device->float_products(), end.how});
  any_tensor workspace;
  if (plan && plan->workspace() > 0)
    workspace = p.c.scratch(dtype::uint8, {static_cast<std::int64_t>(plan->workspace())});
  const bool is_done = plan && plan->run(p.stream(), p.a, p.b, p.to, end, workspace ? workspace.raw() : nullptr);
  if (!is_done && end.how == CUBLASLT_EPILOGUE_DEFAULT) tell_refusal(p.c, matmul::gpu_library, matmul::without_library);
  return is_done;
}

template <class T>
bool multiply_by_library(const cuda_product<T>& p, const cuda::product_end<T>& end = {}) {
  if (end.is_plain()) return multiply_by_library(p, cublas_end{});
  const auto how = end.relu ? CUBLASLT_EPILOGUE_RELU_BIAS : CUBLASLT_EPILOGUE_BIAS;
  return end.bias && !end.gate && multiply_by_library(p, cublas_end{how, end.bias});
}

// Ends with a bias and relu, whose mask becomes output 1.
template <class T>
bool multiply_with_mask(const cuda_product<T>& p, const T* bias) {
  const any_tensor mask = p.c.allocate(1, dtype::uint8, {p.of.m, cublas_end::mask_bytes(p.of.n)});
  return multiply_by_library(p, cublas_end{CUBLASLT_EPILOGUE_RELU_AUX_BIAS, bias, mask.raw()});
}

// Ends with the gradients of relu and of the bias in front of it. An empty mask leads to false, too.
template <class T>
bool multiply_with_relu_gradient(const cuda_product<T>& p, const any_tensor& mask, T* sums) {
  if (mask.count() == 0) return false;
  expect_mask(mask.shape(), {p.of.m, cublas_end::mask_bytes(p.of.n)});
  return multiply_by_library(p, cublas_end{CUBLASLT_EPILOGUE_DRELU_BGRAD, sums, mask.raw()});
}

// Ends with the sums of a factor over the inner dimension.
template <class T>
bool multiply_with_sums(const cuda_product<T>& p, bool left, T* sums) {
  return multiply_by_library(p, cublas_end{left ? CUBLASLT_EPILOGUE_BGRADB : CUBLASLT_EPILOGUE_BGRADA, sums});
}
#else
inline bool open_products_library() {
  return false;
}

template <class T>
bool multiply_by_library(const cuda_product<T>&, const cuda::product_end<T>& = {}) {
  return false;
}
template <class T>
bool multiply_with_mask(const cuda_product<T>&, const T*) {
  return false;
}
template <class T>
bool multiply_with_relu_gradient(const cuda_product<T>&, const any_tensor&, T*) {
  return false;
}
template <class T>
bool multiply_with_sums(const cuda_product<T>&, bool, T*) {
  return false;
}
#endif

// Enqueues a product of two matrices of float or double. A library that has no kernel for the end of it may have one
// for the product.
template <class T>
void cuda_multiply(const cuda_product<T>& p, const cuda::product_end<T>& end = {}) {
  if (multiply_by_library(p, end)) return;
  if (!end.is_plain() && multiply_by_library(p)) return cuda::end_product(p.stream(), p.to, p.of.m, p.of.n, end);
  const any_tensor scratch = p.c.scratch(dtype_of<T>, {cuda::multiply_scratch(p.of)});
  cuda::multiply(p.stream(), p.a, p.b, p.to, scratch.data<T>(), p.of, end);
}

// A kernel that runs f.operator()<T>(product) with the dtype of the node.
template <class F>
std::unique_ptr<kernel> make_cuda_product(const kernel_setup& setup, F f) {
  open_products_library();
  const bool ta = setup.attrs().get_or("transpose_a", false), tb = setup.attrs().get_or("transpose_b", false);
  const auto make = [&]<class T>() {
    return make_function_kernel([ta, tb, f, plans = std::make_shared<last_product_plan>()](kernel_context& c) {
      const auto [m, n, k] = sides_of_product(c.input(0).shape(), ta, c.input(1).shape(), tb);
      f.template operator()<T>(cuda_product<T>{c, *plans, {m, n, k, ta, tb}});
    });
  };
  return visit_plain<dtypes::floating>(setup.input(0).dtype, make);
}

}  // namespace detail

inline std::unique_ptr<kernel> make_cuda_kernel(matmul, const kernel_setup& setup) {
  return detail::make_cuda_product(setup, []<class T>(const detail::cuda_product<T>& p) { detail::cuda_multiply(p); });
}

}}}  // namespace pinion::v0::op
