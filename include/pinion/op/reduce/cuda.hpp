// Kernels of the reductions on GPUs.
#pragma once

#include <cstdint>
#include <memory>
#include <type_traits>
#include <vector>

#include <pinion/op/elementwise/broadcast.hpp>
#include <pinion/op/elementwise/layout.hpp>
#include <pinion/op/reduce/cuda_kernels.hpp>
#include <pinion/op/reduce/op.hpp>
#include <pinion/op/reduce/shared.hpp>
#include <pinion/opkit/axes.hpp>
#include <pinion/opkit/kernel.hpp>

namespace pinion { inline namespace v0 { namespace op {

namespace detail {

// ---- folds

// The folds of a reduction, one for each stretch of reduced axes, the last stretch first. There is none where nothing
// is folded.
inline std::vector<cuda::fold_extents> cuda_folds(const shape& x, axis_set axes) {
  if (x.count() == 0) return {{without_axes(x, axes, false).count(), 0, 1}};
  std::vector<cuda::fold_extents> folds;
  auto rest = stretches(x, axes);
  for (std::int64_t inner = 1; !rest.empty();) {
    const stretch last = rest.back();
    rest.pop_back();
    if (!last.reduced) {
      inner *= last.extent;
      continue;
    }
    std::int64_t outer = 1;
    for (const stretch& s : rest) outer *= s.extent;
    folds.push_back({outer, last.extent, inner});
  }
  return folds;
}

// Folds a tensor. Elements that are folded with no others are the result.
template <class T>
void run_cuda_fold(kernel_context& c, const attributes& attrs, cuda::fold_by how, bool mean) {
  const any_tensor in = c.input(0);
  const axis_set axes = reduced_axes(attrs, in.shape().rank());
  const shape extent = without_axes(in.shape(), axes, attrs.get_or("keep_dims", false));
  if (extent.count() == 0) return void(c.allocate(0, in.dtype(), extent));
  const auto folds = cuda_folds(in.shape(), axes);
  if (folds.empty()) return void(c.outputs[0] = in.reshaped(extent));
  const std::int64_t parts = mean ? in.count() / extent.count() : 1;
  any_tensor from = in;
  for (std::size_t i = 0; i < folds.size(); ++i) {
    const bool last = i + 1 == folds.size();
    const cuda::fold_extents& of = folds[i];
    const any_tensor to = last ? c.allocate(0, in.dtype(), extent) : c.scratch(in.dtype(), {of.outer * of.inner});
    const any_tensor stage = c.scratch(in.dtype(), {cuda::fold_scratch<T>(of)});
    cuda::fold(c.device->stream()->native(), how, static_cast<const T*>(from.raw()), static_cast<T*>(to.raw()), of,
               last ? parts : 1, static_cast<T*>(stage.raw()));
    from = to;
  }
}

// Calls f.operator()<T>() with the type of a dtype of reductions on GPUs.
template <class F>
std::unique_ptr<kernel> with_cuda_number(dtype type, F&& f) {
  return visit_plain(type, [&]<class T>() -> std::unique_ptr<kernel> {
    if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double> || std::is_same_v<T, std::int32_t> ||
                  std::is_same_v<T, std::int64_t>)
      return f.template operator()<T>();
    else
      throw error(errc::internal, "no reduction on GPUs has the dtype " + std::string(to_string(type)));
  });
}

inline std::unique_ptr<kernel> make_cuda_fold(const kernel_setup& setup, cuda::fold_by how, bool mean = false) {
  return with_cuda_number(setup.input(0).dtype, [&]<class T>() {
    return make_function_kernel(
        [attrs = setup.attrs(), how, mean](kernel_context& c) { run_cuda_fold<T>(c, attrs, how, mean); });
  });
}

// A fold of bools, which are bytes of 0 and 1.
inline std::unique_ptr<kernel> make_cuda_fold_of_bools(const kernel_setup& setup, cuda::fold_by how) {
  return make_function_kernel(
      [attrs = setup.attrs(), how](kernel_context& c) { run_cuda_fold<std::uint8_t>(c, attrs, how, false); });
}

// ---- walks

// The dimensions of x that are reduced, or those that are kept. Neighbours are merged.
inline cuda::fold_walk walk_along(const shape& x, axis_set axes, bool reduced) {
  std::vector<std::int64_t> extents, strides;
  std::int64_t stride = x.count();
  for (int axis = 0; axis < x.rank(); ++axis) {
    if (x[axis] != 0) stride /= x[axis];
    if (axes.has(axis) != reduced || x[axis] == 1) continue;
    if (!strides.empty() && strides.back() == x[axis] * stride) {
      extents.back() *= x[axis];
      strides.back() = stride;
    } else {
      extents.push_back(x[axis]);
      strides.push_back(stride);
    }
  }
  cuda::fold_walk walk;
  for (std::size_t i = 0; i < extents.size(); ++i) walk.push_back(extents[i], strides[i]);
  return walk;
}

template <class T>
void run_cuda_integer_mean(kernel_context& c, const attributes& attrs) {
  const any_tensor& in = c.input(0);
  const axis_set axes = reduced_axes(attrs, in.shape().rank());
  const shape extent = without_axes(in.shape(), axes, attrs.get_or("keep_dims", false));
  const any_tensor out = c.allocate(0, in.dtype(), extent);
  cuda::mean_of_integers<T>(c.device->stream()->native(), in.data<T>(), out.data<T>(),
                            walk_along(in.shape(), axes, false), walk_along(in.shape(), axes, true));
}

template <class T>
void run_cuda_argmax(kernel_context& c, std::int64_t attribute) {
  const any_tensor& in = c.input(0);
  const shape& x = in.shape();
  const int axis = checked_axis(attribute, x.rank());
  const any_tensor out = c.allocate(0, dtype::int64, without_axes(x, {1u << axis}, false));
  if (out.count() == 0) return;
  const greatest_of of(x, axis);
  cuda::find_greatest(c.device->stream()->native(), static_cast<const T*>(in.raw()), out.data<std::int64_t>(),
                      {out.count() / of.inner, of.n, of.inner});
}

template <class T>
void run_cuda_expand(kernel_context& c, const attributes& attrs) {
  const any_tensor& dy = c.input(0);
  const expansion way(c, attrs);
  T* const dx = c.allocate(0, dy.dtype(), way.extent).template data<T>();
  if (way.extent.count() == 0) return;
  const broadcast_walk all(way.extent, {way.kept});
  cuda::fold_walk walk;
  for (std::size_t d = 0; d < all.extents.size(); ++d) walk.push_back(all.extents[d], all.strides[0][d]);
  cuda::spread<T>(c.device->stream()->native(), dy.data<T>(), dx, walk, way.divisor());
}

template <class T>
void run_cuda_prod_grad(kernel_context& c, const attributes& attrs) {
  const any_tensor &dy = c.input(0), &x = c.input(1), dx = c.allocate(0, x.dtype(), x.shape());
  const axis_set axes = reduced_axes(attrs, x.shape().rank());
  expect_weights(x.shape(), c.inputs.subspan(2));
  kept_by_gradient(dy.shape(), x.shape(), axes);
  cuda::product_weights<T> weights;
  for (const any_tensor& g : c.inputs.subspan(2)) weights.at[weights.count++] = g.data<T>();
  const auto kept = walk_along(x.shape(), axes, false), reduced = walk_along(x.shape(), axes, true);
  const any_tensor scratch = c.scratch(x.dtype(), {cuda::product_gradient_scratch(weights.count, kept, reduced)});
  cuda::product_gradient(c.device->stream()->native(), dy.data<T>(), x.data<T>(), weights, dx.data<T>(), kept, reduced,
                         scratch.data<T>());
}

}  // namespace detail

inline std::unique_ptr<kernel> make_cuda_kernel(reduce_sum, const kernel_setup& setup) {
  return detail::make_cuda_fold(setup, cuda::fold_by::sum);
}
inline std::unique_ptr<kernel> make_cuda_kernel(reduce_mean, const kernel_setup& setup) {
  return detail::with_cuda_number(setup.input(0).dtype, [&]<class T>() {
    if constexpr (std::is_integral_v<T>)
      return make_function_kernel(
          [attrs = setup.attrs()](kernel_context& c) { detail::run_cuda_integer_mean<T>(c, attrs); });
    else
      return detail::make_cuda_fold(setup, cuda::fold_by::sum, true);
  });
}
inline std::unique_ptr<kernel> make_cuda_kernel(reduce_max, const kernel_setup& setup) {
  return detail::make_cuda_fold(setup, cuda::fold_by::greatest);
}
inline std::unique_ptr<kernel> make_cuda_kernel(reduce_min, const kernel_setup& setup) {
  return detail::make_cuda_fold(setup, cuda::fold_by::least);
}
inline std::unique_ptr<kernel> make_cuda_kernel(reduce_prod, const kernel_setup& setup) {
  return detail::make_cuda_fold(setup, cuda::fold_by::product);
}
inline std::unique_ptr<kernel> make_cuda_kernel(reduce_all, const kernel_setup& setup) {
  return detail::make_cuda_fold_of_bools(setup, cuda::fold_by::least);
}
inline std::unique_ptr<kernel> make_cuda_kernel(reduce_any, const kernel_setup& setup) {
  return detail::make_cuda_fold_of_bools(setup, cuda::fold_by::greatest);
}

inline std::unique_ptr<kernel> make_cuda_kernel(expand_like, const kernel_setup& setup) {
  return detail::with_cuda_number(setup.input(0).dtype, [&]<class T>() {
    return make_function_kernel([attrs = setup.attrs()](kernel_context& c) { detail::run_cuda_expand<T>(c, attrs); });
  });
}
inline std::unique_ptr<kernel> make_cuda_kernel(prod_grad, const kernel_setup& setup) {
  return visit_plain<dtypes::floating>(setup.input(1).dtype, [&]<class T>() {
    return make_function_kernel(
        [attrs = setup.attrs()](kernel_context& c) { detail::run_cuda_prod_grad<T>(c, attrs); });
  });
}
inline std::unique_ptr<kernel> make_cuda_kernel(argmax, const kernel_setup& setup) {
  return detail::visit_number(setup.input(0).dtype, [&]<class T>() {
    return make_function_kernel(
        [axis = setup.attrs().get<std::int64_t>("axis")](kernel_context& c) { detail::run_cuda_argmax<T>(c, axis); });
  });
}

}}}  // namespace pinion::v0::op
