// Kernels of softmax and the cross entropies on GPUs.
#pragma once

#include <cstdint>
#include <memory>

#include <pinion/op/nn/cuda_kernels.hpp>
#include <pinion/op/nn/op.hpp>
#include <pinion/op/nn/rows.hpp>
#include <pinion/opkit/kernel.hpp>

namespace pinion { inline namespace v0 { namespace op {

namespace detail {

template <class T>
using cuda_softmax = void (*)(CUstream_st*, const T* x, T* y, std::int64_t rows, std::int64_t n);

template <class T>
void run_cuda_softmax(kernel_context& c, cuda_softmax<T> softmax) {
  const any_tensor in = c.input(0);
  T* const y = c.allocate(0, in.dtype(), in.shape()).template data<T>();
  if (in.count() == 0) return;
  const matrix_view m(in.shape());
  softmax(c.device->stream()->native(), in.data<T>(), y, m.rows, m.columns);
}

template <class T>
void run_cuda_scale_rows(kernel_context& c) {
  expect_same_rows(c, false);
  const any_tensor &in = c.input(0), &scale = c.input(1);
  const matrix_view m(in.shape(), 1);
  const T* const x = in.data<T>();
  T* const y = c.reuse_or_allocate(0, 0, in.dtype(), in.shape()).template data<T>();
  cuda::scale_rows<T>(c.device->stream()->native(), x, scale.data<T>(), y, m.rows, m.columns);
}

// The outputs of a cross entropy.
template <class T>
struct cuda_losses {
  matrix_view of;
  T *loss, *backprop;

  cuda_losses(kernel_context& c, const any_tensor& logits)
      : of(logits.shape()),
        loss(c.allocate(0, logits.dtype(), {of.rows}).template data<T>()),
        backprop(c.wants(1) ? c.allocate(1, logits.dtype(), logits.shape()).template data<T>() : nullptr) {}
};

template <class T>
void run_cuda_cross_entropy(kernel_context& c) {
  expect_same_rows(c, true);
  const any_tensor &labels = c.input(0), &logits = c.input(1);
  const cuda_losses<T> to(c, logits);
  cuda::cross_entropy<T>(c.device->stream()->native(), labels.data<T>(), logits.data<T>(), to.loss, to.backprop,
                         to.of.rows, to.of.columns);
}

template <class T, class Label>
void run_cuda_sparse_cross_entropy(kernel_context& c) {
  expect_same_rows(c, false);
  const any_tensor &labels = c.input(0), &logits = c.input(1);
  const cuda_losses<T> to(c, logits);
  auto* const wrong = c.expect_values(
      [classes = to.of.columns](std::int64_t row, std::int64_t label) { return wrong_label(row, label, classes); });
  cuda::sparse_cross_entropy<T, Label>(c.device->stream()->native(), labels.data<Label>(), logits.data<T>(), to.loss,
                                       to.backprop, to.of.rows, to.of.columns, wrong);
}

}  // namespace detail

inline std::unique_ptr<kernel> make_cuda_kernel(softmax, const kernel_setup& setup) {
  return visit_plain<dtypes::floating>(setup.input(0).dtype, [&]<class T>() {
    return make_function_kernel([](kernel_context& c) { detail::run_cuda_softmax<T>(c, &cuda::softmax<T>); });
  });
}

inline std::unique_ptr<kernel> make_cuda_kernel(log_softmax, const kernel_setup& setup) {
  return visit_plain<dtypes::floating>(setup.input(0).dtype, [&]<class T>() {
    return make_function_kernel([](kernel_context& c) { detail::run_cuda_softmax<T>(c, &cuda::log_softmax<T>); });
  });
}

inline std::unique_ptr<kernel> make_cuda_kernel(scale_rows, const kernel_setup& setup) {
  return visit_plain<dtypes::floating>(setup.input(0).dtype, [&]<class T>() {
    return make_function_kernel([](kernel_context& c) { detail::run_cuda_scale_rows<T>(c); });
  });
}

inline std::unique_ptr<kernel> make_cuda_kernel(softmax_cross_entropy, const kernel_setup& setup) {
  return visit_plain<dtypes::floating>(setup.input(1).dtype, [&]<class T>() {
    return make_function_kernel([](kernel_context& c) { detail::run_cuda_cross_entropy<T>(c); });
  });
}

inline std::unique_ptr<kernel> make_cuda_kernel(sparse_softmax_cross_entropy, const kernel_setup& setup) {
  return detail::visit_indexed(setup.input(1).dtype, setup.input(0).dtype, [&]<class T, class Label>() {
    return make_function_kernel([](kernel_context& c) { detail::run_cuda_sparse_cross_entropy<T, Label>(c); });
  });
}

}}}  // namespace pinion::v0::op
