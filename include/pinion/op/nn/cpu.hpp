// Kernels of softmax, the cross entropies and in_top_k.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>

#include <pinion/op/nn/loops.hpp>
#include <pinion/op/nn/op.hpp>
#include <pinion/op/nn/rows.hpp>
#include <pinion/opkit/kernel.hpp>
#include <pinion/opkit/ranges.hpp>

namespace pinion { inline namespace v0 { namespace op {

namespace detail {

constexpr std::int64_t cost_of_exp = 8;  // in elements that are only copied

template <class T, template <class> class Body>
void run_softmax(kernel_context& c) {
  const any_tensor in = c.input(0);
  T* const y = c.allocate(0, in.dtype(), in.shape()).template data<T>();
  if (in.count() == 0) return;
  c.launch([x = in.data<T>(), y, m = matrix_view(in.shape()), services = c.services] {
    in_ranges(*services, m.rows, m.columns * cost_of_exp, [&](std::int64_t first, std::int64_t last) {
      const std::int64_t at = first * m.columns;
      scalar::dispatch<Body<T>>(x + at, y + at, m.columns, last - first);
    });
  });
}

template <class T>
void run_scale_rows(kernel_context& c) {
  expect_same_rows(c, false);
  const any_tensor &in = c.input(0), &scale = c.input(1);
  T* const y = c.reuse_or_allocate(0, 0, in.dtype(), in.shape()).template data<T>();
  if (in.count() == 0) return;
  c.launch([x = in.data<T>(), scale = scale.data<T>(), y, m = matrix_view(in.shape(), 1), services = c.services] {
    in_ranges(*services, m.rows, m.columns, [&](std::int64_t first, std::int64_t last) {
      const std::int64_t at = first * m.columns;
      scalar::dispatch<loops::scaled_rows<T>>(x + at, scale + first, y + at, m.columns, last - first);
    });
  });
}

template <class T>
void run_cross_entropy(kernel_context& c) {
  expect_same_rows(c, true);
  const any_tensor &labels = c.input(0), &logits = c.input(1);
  const matrix_view m(logits.shape());
  T* const loss = c.allocate(0, logits.dtype(), {m.rows}).template data<T>();
  T* const backprop = c.wants(1) ? c.allocate(1, logits.dtype(), logits.shape()).template data<T>() : nullptr;
  if (m.columns == 0) return void(std::fill_n(loss, m.rows, T(0)));  // a sum over no classes
  c.launch([label = labels.data<T>(), x = logits.data<T>(), loss, backprop, m, services = c.services] {
    in_ranges(*services, m.rows, m.columns * cost_of_exp, [&](std::int64_t first, std::int64_t last) {
      const std::int64_t at = first * m.columns;
      scalar::dispatch<loops::cross_entropy_rows<T>>(label + at, x + at, loss + first,
                                                     backprop ? backprop + at : nullptr, m.columns, last - first);
    });
  });
}

// Writes labels [first, last) to `checked`, as positions in a row. Throws invalid_argument for one outside [0,
// classes).
template <class Label>
void check_labels(const Label* labels, std::int64_t first, std::int64_t last, std::int64_t classes,
                  std::int64_t* checked) {
  for (std::int64_t r = first; r < last; ++r) {
    const auto label = static_cast<std::int64_t>(labels[r]);
    if (label < 0 || label >= classes) throw wrong_label(r, label, classes);
    *checked++ = label;
  }
}

template <class T, class Label>
void run_sparse_cross_entropy(kernel_context& c) {
  expect_same_rows(c, false);
  const any_tensor &labels = c.input(0), &logits = c.input(1);
  const matrix_view m(logits.shape());
  T* const loss = c.allocate(0, logits.dtype(), {m.rows}).template data<T>();
  T* const backprop = c.wants(1) ? c.allocate(1, logits.dtype(), logits.shape()).template data<T>() : nullptr;
  c.launch([labels = labels.data<Label>(), x = logits.data<T>(), loss, backprop, m, services = c.services] {
    constexpr std::int64_t most = 64;
    in_ranges(*services, m.rows, m.columns * cost_of_exp, [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t from = first, to; from < last; from = to) {
        to = std::min(from + most, last);
        std::int64_t label[most];
        check_labels(labels, from, to, m.columns, label);
        const std::int64_t at = from * m.columns;
        scalar::dispatch<loops::sparse_cross_entropy_rows<T>>(static_cast<const std::int64_t*>(label), x + at,
                                                              loss + from, backprop ? backprop + at : nullptr,
                                                              m.columns, to - from);
      }
    });
  });
}

// TensorFlow's rule, exactly: reading stops once k predictions are greater, so a value after that may be non-finite.
template <class T>
bool among_top(const T* x, std::int64_t classes, std::int64_t target, std::int64_t k) {
  if (target < 0 || target >= classes || !std::isfinite(x[target])) return false;
  std::int64_t greater = 0;
  for (std::int64_t i = 0; i < classes && greater <= k; ++i) {
    if (!std::isfinite(x[i])) return false;
    greater += x[i] > x[target];
  }
  return greater < k;
}

template <class T, class Target>
void run_in_top_k(kernel_context& c, std::int64_t k) {
  expect_same_rows(c, false);
  const any_tensor &predictions = c.input(0), &targets = c.input(1);
  const matrix_view m(predictions.shape());
  bool* const y = c.allocate(0, dtype::boolean, {m.rows}).template data<bool>();
  c.launch([x = predictions.data<T>(), target = targets.data<Target>(), y, m, k, services = c.services] {
    in_ranges(*services, m.rows, m.columns, [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t r = first; r < last; ++r)
        y[r] = among_top(x + r * m.columns, m.columns, static_cast<std::int64_t>(target[r]), k);
    });
  });
}

}  // namespace detail

inline std::unique_ptr<kernel> make_kernel(softmax, const kernel_setup& setup) {
  return visit_plain<dtypes::floating>(setup.input(0).dtype, [&]<class T>() {
    return make_function_kernel([](kernel_context& c) { detail::run_softmax<T, loops::softmax_rows>(c); });
  });
}

inline std::unique_ptr<kernel> make_kernel(log_softmax, const kernel_setup& setup) {
  return visit_plain<dtypes::floating>(setup.input(0).dtype, [&]<class T>() {
    return make_function_kernel([](kernel_context& c) { detail::run_softmax<T, loops::log_softmax_rows>(c); });
  });
}

inline std::unique_ptr<kernel> make_kernel(scale_rows, const kernel_setup& setup) {
  return visit_plain<dtypes::floating>(setup.input(0).dtype, [&]<class T>() {
    return make_function_kernel([](kernel_context& c) { detail::run_scale_rows<T>(c); });
  });
}

inline std::unique_ptr<kernel> make_kernel(softmax_cross_entropy, const kernel_setup& setup) {
  return visit_plain<dtypes::floating>(setup.input(1).dtype, [&]<class T>() {
    return make_function_kernel([](kernel_context& c) { detail::run_cross_entropy<T>(c); });
  });
}

inline std::unique_ptr<kernel> make_kernel(sparse_softmax_cross_entropy, const kernel_setup& setup) {
  return detail::visit_indexed(setup.input(1).dtype, setup.input(0).dtype, [&]<class T, class Label>() {
    return make_function_kernel([](kernel_context& c) { detail::run_sparse_cross_entropy<T, Label>(c); });
  });
}

inline std::unique_ptr<kernel> make_kernel(in_top_k, const kernel_setup& setup) {
  return detail::visit_indexed(setup.input(0).dtype, setup.input(1).dtype, [&]<class T, class Target>() {
    return make_function_kernel(
        [k = setup.attrs().get<std::int64_t>("k")](kernel_context& c) { detail::run_in_top_k<T, Target>(c, k); });
  });
}

}}}  // namespace pinion::v0::op
