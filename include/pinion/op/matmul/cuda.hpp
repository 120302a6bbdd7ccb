// The kernel of matmul on GPUs: by cuBLASLt where it is installed, and by tiles where it is not.
#pragma once

#include <bit>
#include <cstdint>
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
inline std::size_t alignment_of(const any_tensor& a, const any_tensor& b, const any_tensor& c) {
  const auto bits = reinterpret_cast<std::uintptr_t>(a.raw()) | reinterpret_cast<std::uintptr_t>(b.raw()) |
                    reinterpret_cast<std::uintptr_t>(c.raw()) | 256;
  return std::size_t{1} << std::countr_zero(bits);
}

// Multiplies by the library. Returns false where it is missing or refuses.
template <class T>
bool multiply_by_library(kernel_context& c, const any_tensor& a, const any_tensor& b, const any_tensor& to,
                         const cuda::product_extents& of) {
  if (of.m == 0 || of.n == 0 || of.k == 0) return false;
  const devices::cuda_stream stream = c.device->stream()->native();
  const auto plan = products_library().find({dtype_of<T>, of, alignment_of(a, b, to)});
  if (!plan) return false;
  any_tensor workspace;
  if (plan->workspace() > 0) workspace = c.scratch(dtype::uint8, {static_cast<std::int64_t>(plan->workspace())});
  return plan->run(stream, a.data<T>(), b.data<T>(), to.data<T>(), workspace ? workspace.raw() : nullptr);
}
#else
inline bool open_products_library() {
  return false;
}

template <class T>
bool multiply_by_library(kernel_context&, const any_tensor&, const any_tensor&, const any_tensor&,
                         const cuda::product_extents&) {
  return false;
}
#endif

// Enqueues a product of two matrices of float or double.
inline void cuda_multiply(kernel_context& c, const any_tensor& a, const any_tensor& b, const any_tensor& to,
                          const cuda::product_extents& of) {
  const auto run = [&]<class T>() {
    if (!multiply_by_library<T>(c, a, b, to, of))
      cuda::multiply<T>(c.device->stream()->native(), a.data<T>(), b.data<T>(), to.data<T>(), of);
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

}}}  // namespace pinion::v0::op
